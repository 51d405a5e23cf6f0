/* SPDX-License-Identifier: ISC */
/*
 * Terminals that somebody is attached to.  A session's output is in its
 * ring; a client is a place in that, and nothing is kept for it.  All clients
 * of a session together make a struct term: how fast they are, which of them
 * is in control, and which size the terminal should have.
 *
 * In control is the read-write client that was active last: the terminal has
 * its size, and what it answers to a program's questions is what reaches the
 * program.
 */
#ifndef DL_NET_TERM_H
#define DL_NET_TERM_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/loop.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/termask.h"
#include "netproc/text/term_flow.h"
#include "wire/msg.h"

/* A client that acknowledges is never further ahead of that. */
#define TERM_ACK_WINDOW	((uint64_t)512 * 1024)

enum term_phase {
	TERM_WAITING,		/* the session has not run yet */
	TERM_MARKING,		/* the spawner is asked where to begin */
	TERM_REPLAYING,		/* what was before it came */
	TERM_WATCHING
};

struct term_client {
	TAILQ_ENTRY(term_client) entry;
	struct term		*term;
	struct conn		*conn;
	struct term_ask		 ask;		/* how it came */
	bool			 told_read_only;
	bool			 ending;	/* the connection ends */

	/* where it is; flow.cursor is the byte to be sent next */
	enum term_phase		 phase;
	struct flow_client	 flow;
	bool			 lost;		/* from here up to the mark */
	uint64_t		 lost_from;
	uint64_t		 live_at;	/* what is before it is history */
	uint64_t		 quiet_end_ms;	/* until then it answers history */
	bool			 replayed;	/* there was some */
	bool			 acks;
	uint64_t		 acked;
	char			*preamble;	/* owned; NULL = none (any more) */
	size_t			 npreamble;
	uint64_t		 mark_request;

	/* the run that it watches, and how that ended */
	uint32_t		 run;		/* 0 = none yet */
	bool			 ended, has_exit_code;
	uint32_t		 exit_code, signal;

	uint64_t		 active;	/* grows with what it does */
	uint32_t		 cols, rows;	/* its own size; 0 = unknown */
	/* what it was told last */
	uint32_t		 told_cols, told_rows;
	uint64_t		 told_people;

	/* typed, and not with the spawner yet; sent bytes are on their way */
	struct text		 typed;
	size_t			 sent;
	uint64_t		 request;	/* of input or a size; 0 = none */
	struct loop_timer	 retry;
	uint64_t		 heard_ms;	/* last byte of a WebSocket */
};

/* NULL without memory.  The client's connection watches the session. */
struct term *term_join(struct term_client *, const struct rsession *);
void	 term_leave(struct term_client *);
/* How many are attached. */
size_t	 term_count(const struct rsession *);

/* May it type now?  Rights may change while it is attached. */
bool	 term_writes(const struct term_client *);
bool	 term_controls(const struct term_client *);
/* It has done something: it is in control now. */
void	 term_active(struct term_client *);
/* Its terminal has this size now. */
void	 term_sized(struct term_client *, uint32_t cols, uint32_t rows);
/* It typed these bytes. */
void	 term_typed(struct term_client *, const char *, size_t);
/* Whether more can be taken from it. */
bool	 term_has_room(const struct term_client *);
/* The answer to its request. */
void	 term_result(struct term_client *, uint32_t err, const char *);

/* Clients have moved, or the session has written. */
void	 term_pace(struct term *, uint64_t total, size_t ring);
/* Counts changes of the attached clients. */
uint64_t term_people(const struct term_client *);
/* An array of them in JSON, as this one sees it. */
void	 term_list(const struct term_client *, struct text *);

#endif
