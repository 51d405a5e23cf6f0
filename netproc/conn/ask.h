/* SPDX-License-Identifier: ISC */
/*
 * Requests to the spawner.  A connection has at most one at a time, and does
 * nothing else until it is answered.
 */
#ifndef DL_NET_ASK_H
#define DL_NET_ASK_H

#include "conn.h"
#include "termask.h"
#include "wire/msg.h"

struct instrument;
struct text;
struct word;

struct ask;
/*
 * An answer to a request of the spawner; msg is empty or an explanation.
 * The connection reads commands again, unless this changes that.
 */
typedef void	(*ask_fn)(struct conn *, struct ask *, uint32_t err,
		    const char *msg);

/* A key, or why there is none; see keys.h. */
struct key_answer;
typedef void	(*key_fn)(struct conn *, struct ask *,
		    const struct key_answer *);

/*
 * Takes the answer of a session's debugger or tracer: a JSON object, or with
 * failed that of an error; why is NULL, or says why json is not an object.
 */
typedef void	(*instrument_fn)(struct conn *, const struct instrument *,
		    bool failed, const char *why, const struct word *json);

/* When a session that NEW makes shall start. */
enum new_start {
	NEW_UNSAID,
	NEW_NOW,
	NEW_AT_ATTACH		/* when the first client attaches */
};

struct ask {
	ask_fn		 fn;
	struct sid	 session;
	uint64_t	 request;
	uint64_t	 size;		/* of a payload that follows */
	bool		 open;		/* that is the most */
	/* the connection ends before the answer; NULL = nothing to undo */
	void		(*undo)(struct conn *);
	uint32_t	 typed;		/* INPUT: bytes of this request */
	bool		 begun;		/* rows have been written */
	void		(*row)(struct text *, struct msg *);	/* see rows.h */
	bool		 auth;		/* AUTH: who it is may change */
	key_fn		 key;		/* told the key that was asked for */
	char		 token[8];	/* TOKEN revoke: its id */
	struct term_ask	 term;		/* what to attach to when it runs */
	enum new_start	 start;		/* NEW */
	/* DEBUGGER and TRACER: whose answer, and what becomes of it */
	const struct instrument *of;
	instrument_fn	 passed;
	struct text	*pieces;	/* of it; malloc'ed; NULL = none */
};

/* The state of a connection in mode_asked. */
static inline struct ask *
ask_state(const struct conn *c)
{
	return conn_state(c, struct ask);
}

extern struct channel	spawner_chan;

void	 ask_init(void);
/* Calls fn when the spawner has gone, before connections hear of it. */
void	 ask_when_lost(void (*fn)(void));
/* The replica cannot be kept: it begins anew, with the link. */
void	 ask_afresh(const char *what);
/* A new channel to the spawner; takes fd. */
void	 ask_peer(int fd, uint32_t generation);
/* The message for a request of this connection; session may be NULL. */
struct msg_out *ask_new(struct conn *, enum msg_type, const struct sid *);
/* The number of the request that was made last. */
uint64_t ask_last(void);
/*
 * Sends it and waits; how.fn is called with the answer, or with
 * ERR_TRY_AGAIN at once when there is no spawner.
 */
void	 ask_send(struct conn *, struct msg_out *, struct ask how);
/* Sends it; the answer is the session object, or the error. */
void	 ask_session(struct conn *, struct msg_out *, const struct sid *);
/* Ends the waiting: calls fn. */
void	 ask_done(struct conn *, uint32_t err, const char *);
/* The connection that asked this; NULL when it has gone. */
struct conn *ask_find(const struct msg *);

extern const struct conn_mode	mode_asked;

int	 net_on_result(struct msg *);

#endif
