/* SPDX-License-Identifier: ISC */
/*
 * Messages between roles over SOCK_SEQPACKET socketpairs: a fixed header, a
 * typed payload, at most one fd.  Fields are in host order: both ends are
 * binaries of one build on one host.
 *
 * Sending: msg_new(), msg_put_*(), chan_send().  There is one outgoing
 * message at a time; it lives in static memory.  A field that does not fit
 * marks the message as bad, and chan_send() refuses it.
 *
 * Receiving: the handler of the row is called after sender, length, fd kind
 * and state have been checked.  It reads the fields in order with msg_get_*()
 * and must end with "return msg_end(m)" or an earlier -1: a payload that is
 * short or long, or a -1, is a violation and cuts the peer off.
 */
#ifndef DL_MSG_H
#define DL_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "roles.h"

#define MSG_PAYLOAD_MAX	(120 * 1024)
#define MSG_ANY		MSG_PAYLOAD_MAX

enum msg_type {
	MSG_NONE,
#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	MSG_##name,
#include "msgs.def"
#undef MSG
	MSG_COUNT
};

/* The kinds of fd that a row may ask for. */
enum msg_fd {
	FD_NONE,
	FD_SOCKET,		/* a socket of any family */
	FD_MEMFD,		/* a file that answers F_GET_SEALS */
	FD_PIPE,		/* a FIFO */
	FD_PIDFD,
	FD_FILE,		/* a regular file */
	FD_IMAGE,		/* a memfd, a namespace, or none at all */
	FD_WASTE,		/* a memfd, a namespace, a file, or none */
	FD_PTY,			/* the master of a pseudo terminal */
	FD_STREAM		/* pipe, socket, pidfd, namespace, file or PTY */
};

/* Session states as bits, for the STATES column. */
enum session_state {
	STATE_UPLOADING		= 1 << 0,	/* never shown to anybody */
	STATE_LOADED		= 1 << 1,
	STATE_STARTING		= 1 << 2,	/* shown as before the start */
	STATE_RUNNING		= 1 << 3,
	STATE_DEBUGGING		= 1 << 4,
	STATE_STOPPED		= 1 << 5,
	STATE_DELETING		= 1 << 6,
	STATE_ALIVE		= STATE_RUNNING | STATE_DEBUGGING,
	STATE_SETTLED		= STATE_LOADED | STATE_STARTING | STATE_ALIVE |
				  STATE_STOPPED,
	STATE_ANY		= 0
};

struct sid {
	uint8_t	 b[16];
};

struct msg_hdr {
	uint32_t	type;
	uint32_t	length;		/* of the payload, bytes */
	uint64_t	request;	/* chosen by the asker, 0 = none */
	uint32_t	conn;		/* netproc's connection, 0 = none */
	uint32_t	generation;	/* of the channel */
	struct sid	session;	/* all zero = none */
};

struct channel;

/* A received message, valid during its handler only. */
struct msg {
	struct msg_hdr	 hdr;
	const uint8_t	*next;
	size_t		 left;
	bool		 bad;
	int		 fd;		/* -1 or closed after the handler */
	struct channel	*chan;
};

typedef int	(*msg_handler)(struct msg *);

struct msg_row {
	const char	*name;
	enum role	 from, to;	/* or ROLE_CHILD, ROLE_INST */
	uint32_t	 min, max;
	enum msg_fd	 fd;
	unsigned int	 states;
	unsigned int	 refusal;
	const char	*handler;
};

/* Names, limits and policies of every message, indexed by type. */
extern const struct msg_row msg_rows[MSG_COUNT];

/*
 * Each role compiles common/wire/dispatch.c with -DSELF_<ROLE>: the handlers of
 * the rows that this role receives, NULL elsewhere.
 */
extern const msg_handler msg_handlers[MSG_COUNT];

const char	*msg_name(uint32_t type);
/* Whether the payload is secret: channels keep no copy of such a message. */
bool		 msg_is_secret(uint32_t type);

/* -- writing -- */
struct msg_out;
/* session may be NULL.  conn and request as in the header. */
struct msg_out	*msg_new(enum msg_type, const struct sid *session,
		    uint32_t conn, uint64_t request);
void	 msg_put_u32(struct msg_out *, uint32_t);
void	 msg_put_u64(struct msg_out *, uint64_t);
void	 msg_put_bytes(struct msg_out *, const void *, size_t);	/* raw */
void	 msg_put_blob(struct msg_out *, const void *, size_t);	/* u32 + raw */
void	 msg_put_str(struct msg_out *, const char *);	/* NULL = empty */
/* Bytes of payload so far, so that a long answer can be sent in parts. */
size_t	 msg_out_len(const struct msg_out *);
/* Forgets the payload, which held a secret; after it was sent. */
void	 msg_out_wipe(struct msg_out *);

/* -- reading: after a failure every getter returns 0 or empty -- */
uint32_t msg_get_u32(struct msg *);
uint64_t msg_get_u64(struct msg *);
/* The next u32-counted bytes; the pointer is good during the handler. */
const void *msg_get_blob(struct msg *, size_t *len);
/* The same for NUL-terminated strings one after the other. */
const char *msg_get_strings(struct msg *, size_t *len);
/* A string without NUL inside, shorter than size, else the message is bad. */
void	 msg_get_str(struct msg *, char *buf, size_t size);
/* Everything that is left, as raw bytes. */
const void *msg_get_rest(struct msg *, size_t *len);
/* Forgets a blob of it, which is a secret. */
void	 msg_wipe(struct msg *, const void *blob, size_t len);
/* 0 when all fields were there and nothing is left, else -1. */
int	 msg_end(struct msg *);
/* The caller owns the fd from now on.  -1 when there is none. */
int	 msg_take_fd(struct msg *);

/* -- channels -- */
struct chan_out;
/* The peer has gone or broken the table; why is NULL for a plain end. */
typedef void	(*chan_gone_fn)(struct channel *, const char *why);
/*
 * Asked before every handler: may this peer ask that now, and is the session
 * in a state that the row names?  Returns 0 to go on, 1 when the message has
 * been answered with a refusal, -1 for a violation.
 */
typedef int	(*chan_allow_fn)(struct msg *, const struct msg_row *);

struct channel {
	struct loop_io	 io;
	int		 fd;		/* owned; -1 = not connected */
	enum role	 self, peer;
	uint32_t	 generation;
	struct chan_out	*out_head, **out_tail;
	size_t		 out_bytes, out_fds;
	bool		 paused;
	chan_gone_fn	 gone;
	chan_allow_fn	 allow;
	bool		 in_read;
	bool		 no_fds;	/* chan_refuse_fds() */
	unsigned int	 vain;		/* looks for a second message, in a row */
	unsigned int	 singles;	/* turns to come that take one alone */
	bool		 chatty;	/* chan_calm() was called in this turn */
	struct loop_timer calm;
};

/* Bytes that may wait for a peer that does not read, before it is cut off. */
#define CHAN_QUEUE_MAX	(8 * 1024 * 1024)
/*
 * And fds: a message costs its sender one, so that small ones could use up
 * all.  As many as there can be sessions.
 */
#define CHAN_QUEUE_FDS	4096

void	 chan_init(struct channel *, enum role self, enum role peer,
	    chan_gone_fn, chan_allow_fn);
/*
 * A message with an fd breaks the table, whatever the fd is: the message is
 * not even received.  To close a file of another user's may take as long as
 * that user likes, if the file system is a process of theirs.  Call before
 * chan_open().
 */
void	 chan_refuse_fds(struct channel *);
/* Takes fd (made non-blocking).  Returns -1 with errno; fd is closed then. */
int	 chan_open(struct channel *, int fd, uint32_t generation);
/* Closes and drops what is queued; harmless when closed.  gone not called. */
void	 chan_close(struct channel *);
bool	 chan_is_open(const struct channel *);
/*
 * Sends or queues the message; takes fd (-1 = none), also on failure.
 * Returns -1 when the channel is closed, the message is bad, or the peer
 * was cut off because it does not read.
 */
int	 chan_send(struct channel *, struct msg_out *, int fd);
/*
 * The same, but borrows fd, so that a full table of descriptors does not
 * matter unless the message must wait.  Then the link is lost.
 */
int	 chan_lend(struct channel *, struct msg_out *, int fd);
/* Blocking receive of one message during set-up, before the loop runs. */
int	 chan_recv_one(struct channel *);
/* Handles every message that is already there (at most max). */
void	 chan_drain(struct channel *, unsigned int max);
/* Bytes that wait for the peer to read. */
size_t	 chan_backlog(const struct channel *);
/*
 * Stops reading from the peer until it is told to go on: who asks for more
 * than can be done has to wait.  A new connection begins unpaused.
 */
void	 chan_pause(struct channel *, bool);
/*
 * Lets the peer's next message wait a few milliseconds, to be read with those
 * that follow: a wake-up costs more than most messages.  Nothing is lost when
 * the peer goes meanwhile.
 */
void	 chan_calm(struct channel *);
/* Both ends, SEQPACKET, close-on-exec, non-blocking. */
int	 chan_pair(int fds[2]);

#endif
