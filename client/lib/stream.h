/* SPDX-License-Identifier: ISC */
/* Bytes to and from a daemon, whatever carries them. */
#ifndef CLIENT_LIB_STREAM_H
#define CLIENT_LIB_STREAM_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

struct tls;

/*
 * sock_fd is non-blocking. A read into at least STREAM_PIECE bytes leaves
 * nothing behind that poll() would not tell of.
 */
#define STREAM_PIECE	16384U

struct stream {
	int		 sock_fd;
	struct tls	*tls;		/* NULL: the bytes go as they are */
	const struct cipher *cipher;	/* ... what speaks it otherwise */
	short		 read_events;	/* what to poll for to read */
	short		 write_events;	/* ... and to write */
	bool		 write_ended;
	char		 why[256];	/* TLS's own words about an error */
};

/* The functions of libtls that a stream needs, by its own conventions. */
struct cipher {
	ssize_t		(*read)(struct tls *, void *, size_t);
	ssize_t		(*write)(struct tls *, const void *, size_t);
	int		(*close)(struct tls *);
	void		(*free)(struct tls *);
	const char	*(*error)(struct tls *);
};

/* Takes sock_fd. */
void	stream_init(struct stream *, int sock_fd);

/* From now on what passes is TLS. Takes tls, borrows cipher. */
void	stream_encrypt(struct stream *, const struct cipher *, struct tls *);

/*
 * As read(2) and write(2). -1 and errno: EAGAIN after which read_events or
 * write_events are to be polled for, EPROTO when why tells more.
 */
ssize_t	stream_read(struct stream *, void *buf, size_t len);
ssize_t	stream_write(struct stream *, const void *buf, size_t len);

/* Nothing more will be written. -1 and errno, EAGAIN as above. */
int	stream_end(struct stream *);

/*
 * From now on a signal that ends programs ends stream_wait() of any stream,
 * when it waits to be read from this signalfd; borrowed, -1 = none does.
 */
void	stream_interruptible(int signal_fd);

/*
 * Waits for events, ms as with poll(2). -1 and errno: ETIMEDOUT, EINTR, that
 * when a signal has come for stream_interruptible(), which stays unread.
 */
int	stream_wait(const struct stream *, short events, int ms,
	    short *revents);

void	stream_close(struct stream *);

#endif
