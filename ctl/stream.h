/* SPDX-License-Identifier: ISC */
/* Bytes to and from a daemon, whatever carries them. */
#ifndef CTL_STREAM_H
#define CTL_STREAM_H

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
	short		 read_events;	/* what to poll for to read */
	short		 write_events;	/* ... and to write */
	bool		 write_ended;
	char		 why[256];	/* TLS's own words about an error */
};

/* Takes sock_fd and tls, which may be NULL. */
void	stream_init(struct stream *, int sock_fd, struct tls *tls);

/*
 * As read(2) and write(2). -1 and errno: EAGAIN after which read_events or
 * write_events are to be polled for, EPROTO when why tells more.
 */
ssize_t	stream_read(struct stream *, void *buf, size_t len);
ssize_t	stream_write(struct stream *, const void *buf, size_t len);

/* Nothing more will be written. -1 and errno, EAGAIN as above. */
int	stream_end(struct stream *);

/*
 * Waits for events, ms as with poll(2). -1 and errno: ETIMEDOUT, EINTR.
 */
int	stream_wait(const struct stream *, short events, int ms,
	    short *revents);

void	stream_close(struct stream *);

#endif
