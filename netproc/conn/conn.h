/* SPDX-License-Identifier: ISC */
/*
 * A client's connection: its buffers, its time-outs, and the mode that says
 * what it is doing.  A mode is stepped by conn_run() until it waits; a step
 * does a bounded piece of work, so that no connection delays the others.
 *
 * Code that changes something that a mode waits for calls conn_run() last:
 * conn_run() sends what was written and may free the connection.
 */
#ifndef DL_NET_CONN_H
#define DL_NET_CONN_H

#include <sys/queue.h>
#include <sys/types.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "reply.h"
#include "wire/msg.h"

struct conn;
struct mcp;
struct owner;
struct source;
struct tty_mark;
struct word;
struct text;
struct rsession;

/* Which time-out holds. */
enum conn_clock {
	CLOCK_NONE,		/* the client waits for us */
	CLOCK_LINE,		/* we wait for the rest of something */
	CLOCK_IDLE		/* nothing is going on, or it does not read */
};

/*
 * Replaces the socket of a connection that has none of its own: commands and
 * their payloads come from the port, and answers go to the port.
 */
struct conn_port {
	/* As recv() and send() that do not wait. */
	ssize_t	 (*take)(struct conn *, void *, size_t);
	ssize_t	 (*give)(struct conn *, const void *, size_t);
	/* conn_run() is to be called when one of these EPOLL* bits is so. */
	void	 (*want)(struct conn *, uint32_t);
	/* Runs the next command; false = there is none now. */
	bool	 (*next)(struct conn *);
	/* The next bytes given answer the command: ERR_OK, or an error. */
	void	 (*answer)(struct conn *, uint32_t err);
	/* The answer ends with what has been written. */
	void	 (*answered)(struct conn *);
	/*
	 * An object of several that make up the answer, and where the next
	 * one begins; the text is borrowed.
	 */
	void	 (*event)(struct conn *, const struct text *, uint64_t next);
	/* A line before the answer, of which there is a copy. */
	void	 (*header)(struct conn *, const char *name, const char *value);
	/* How the answer is to be taken: a status of HTTP. */
	void	 (*status)(struct conn *, unsigned int);
	/* The answer is an object, where others of this request are not. */
	void	 (*enveloped)(struct conn *);
	/* Members that WHOAMI has beside the usual ones. */
	void	 (*whoami)(struct conn *, struct text *);
	/* The session that the answer is about. */
	void	 (*about)(struct conn *, const struct rsession *);
	/* The payload's size is the most that it can be: payload_end(). */
	bool	 (*is_open)(const struct conn *);
	/* The socket through which the client is reached: borrowed. */
	int	 (*socket)(const struct conn *);
	/* The connection ends now: it is not to be touched any more. */
	void	 (*gone)(struct conn *);
};

struct conn_mode {
	const char	*name;
	enum conn_clock	 clock;
	/* The step reads by itself (conn_take()), not into the line buffer. */
	bool		 bulk;
	/* Its bytes are those of a payload. */
	bool		 payload;
	/* Earlier answers must have been handed to the kernel first. */
	bool		 alone;
	/* A client that has sent its end is not waited for. */
	bool		 ends_at_eof;
	/* Returns false when there is nothing to do until something happens. */
	bool		 (*step)(struct conn *);
	/* due_ms has passed; conn_run() follows.  Where due_ms is set. */
	void		 (*expired)(struct conn *);
	/* The watched session has changed; conn_run() follows.  May be NULL. */
	void		 (*changed)(struct conn *);
	/* The spawner has gone; conn_run() follows.  May be NULL. */
	void		 (*lost)(struct conn *);
	/* More has come, also while the client does not read.  May be NULL. */
	void		 (*input)(struct conn *);
	/* A RESULT to what this mode asked; conn_run() follows.  May be NULL. */
	void		 (*answered)(struct conn *, uint64_t request,
			    uint32_t err, const char *);
	/* A TTY_MARKED to what it asked; conn_run() follows.  May be NULL. */
	void		 (*marked)(struct conn *, uint64_t request,
			    const struct tty_mark *);
	/* Gives back what the mode holds, also when the connection ends. */
	void		 (*leave)(struct conn *);
};

/* Takes a client's lines; the functions are those of the commands. */
struct conn_reader {
	/* From its first byte: the form of the answer to half a line. */
	void		 (*form)(struct conn *, char first);
	/* Runs one line, without its end. */
	void		 (*run)(struct conn *, const char *line, size_t len);
};

/* Callbacks that conn_at_end() has room for. */
#define CONN_ENDS	2

#define HELLO_NONCE	16

/* Progress of HELLO; zeroed, all commands are answered. */
struct hello {
	bool		 wanted;	/* HELLO has not been completed */
	bool		 asked;		/* the nonce has been sent */
	bool		 good;		/* a line with valid syntax has come */
	uint8_t		 nonce[HELLO_NONCE];
	unsigned int	 not_found;	/* answers since the last right id */
	uint32_t	 err;		/* of the present line, or ERR_OK */
};

/* Bytes that a mode may keep in a connection. */
#define CONN_STATE	512

struct conn {
	TAILQ_ENTRY(conn)	 all;
	LIST_ENTRY(conn)	 hash;
	/* The session that it waits for; NULL when that has gone. */
	TAILQ_ENTRY(conn)	 watch;
	struct rsession		*watched;
	bool			 watching;

	struct loop_io		 io;
	struct loop_timer	 timer;
	int			 fd;	/* owned; -1 = it has a port */
	const struct conn_port	*port;	/* NULL = it has a socket */
	void			*port_arg;	/* the port's own */
	uint32_t		 number;
	uint32_t		 listener_flags;	/* LISTENER_* */
	struct in6_addr		 from;
	const struct conn_mode	*mode;
	struct owner		*owner;	/* NULL = not known yet */
	bool			 counted;	/* among the owner's */
	uint64_t		 begun_ms;	/* accepted */
	uint64_t		 active_ms;	/* last byte in or out */
	uint64_t		 due_ms;	/* the mode's own; 0 = none */
	bool			 synced;	/* the spawner knows it */
	bool			 unauthenticated;	/* may only AUTH */
	struct source		*source;	/* until AUTH; its own count */
	bool			 read_only;	/* by its token */
	bool			 by_token;
	bool			 spoke;		/* AUTH would come too late */
	bool			 eof;		/* of the client's */
	bool			 stalled;	/* wants no input for now */
	bool			 dead;
	struct hello		 hello;
	size_t			 cost;		/* bytes of this turn */
	struct reply		 reply;		/* to the present command */
	struct ws		*ws;		/* owned; NULL = it is none */
	struct greeting		*greeting;	/* attach.c's, of a ws */
	struct mcp		*mcp;		/* owned; NULL = none is due */

	/* Sizes and places in the buffers; NULL while there is nothing. */
	char			*in, *out;
	size_t			 in_pos, in_len, in_cap, scanned;
	size_t			 out_pos, out_len, out_cap;
	bool			 secret;	/* wipe what is sent */

	/* The mode's own: conn_state(). */
	_Alignas(max_align_t) unsigned char mode_state[CONN_STATE];
};

TAILQ_HEAD(conn_list, conn);
extern struct conn_list	 conns;
extern size_t		 conn_count;

/* Chooses where connection numbers begin. */
void	 conn_init(void);
/* Borrows it for good; before the first connection. */
void	 conn_read_by(const struct conn_reader *);
/* Calls fn for each connection that ends; at most CONN_ENDS of them. */
void	 conn_at_end(void (*fn)(struct conn *));
/* A number that no other connection of this process had; never 0. */
uint32_t conn_number(void);
/* Takes fd.  NULL (fd is closed) when there is no memory. */
struct conn *conn_new(int fd, uint32_t listener_flags);
/* The same of one behind a port. */
struct conn *conn_new_port(const struct conn_port *, void *arg,
    uint32_t listener_flags);
/* Its socket, or that behind its port. */
int	 conn_socket(const struct conn *);
/*
 * Sends at most n bytes of a file from *at on, and moves that.  -1 with
 * errno; EAGAIN = not now.
 */
ssize_t	 conn_send_file(struct conn *, int file_fd, off_t *at, size_t n);
/*
 * A socket of its own from now on: takes fd, also on failure; the n bytes
 * (copied) have been read from it.  false without memory.
 */
bool	 conn_adopt(struct conn *, int fd, const void *, size_t n);
/* NULL when there is none (any more). */
struct conn *conn_find(uint32_t number);
/* Steps the mode, sends, sets up what to wait for; may free it. */
void	 conn_run(struct conn *);
/* Leaves the present mode and enters another. */
void	 conn_enter(struct conn *, const struct conn_mode *);
/* Ends when its answers are with the client, or after a short while. */
void	 conn_finish(struct conn *);
/* Its port has bytes for it: takes what it has room for, and conn_run(). */
void	 conn_feed(struct conn *);
/* For all connections, also when f frees the one that it is given. */
void	 conn_each(void (*f)(struct conn *, void *), void *);

/*
 * The state of the present mode, zeroed by conn_enter(); its type is that of
 * the file which has the mode.
 */
#define conn_state(c, type) ({						\
	_Static_assert(sizeof(type) <= CONN_STATE, "too much for a mode"); \
	(type *)(void *)(c)->mode_state;				\
})

/* -- input -- */
/* The next bytes, at most want; 0 = none now.  Good until the next call. */
size_t	 conn_take(struct conn *, size_t want, const char **);
/* Bytes that were read and not used yet; *p is borrowed. */
size_t	 conn_unused(struct conn *, const char **);
/* n bytes of that are used now. */
void	 conn_skip(struct conn *, size_t n);
/* Forgets the bytes that were used: a secret was among them. */
void	 conn_wipe(struct conn *);
/* The turn ends after this step; the next comes when the client reads. */
void	 conn_yield(struct conn *);

/* -- output -- */
/* Adds to the answers; without memory the connection ends. */
void	 conn_write(struct conn *, const void *, size_t);
/* The bytes written next are secret: no copy stays once they are sent. */
void	 conn_secret(struct conn *);
/* Bytes that wait to be sent. */
size_t	 conn_unsent(const struct conn *);
/* Hands over what it can of them. */
void	 conn_flush(struct conn *);

/* -- waiting for a session -- */
void	 conn_watch(struct conn *, struct rsession *);
void	 conn_unwatch(struct conn *);

extern const struct conn_mode	mode_line;	/* reads commands */
extern const struct conn_mode	mode_linger;	/* says good-bye */

/* Pieces of work and of output that are enough for one step. */
#define CONN_PIECE	(32 * 1024)

#endif
