/* SPDX-License-Identifier: ISC */
/*
 * How far the output of a terminal may run ahead of the clients that watch it.
 *
 * Output waits for the slowest client, so that no client loses any.  A client
 * that has kept others waiting for a quarter of a second in all counts as
 * slow: it loses what it cannot take, until it has caught up.  That budget
 * comes back slowly.  A client that takes nothing at all for a while keeps
 * nobody waiting, not even the program when it is the only client.
 */
#ifndef DL_NET_TERM_FLOW_H
#define DL_NET_TERM_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/proto.h"

#define FLOW_WINDOW	((uint64_t)256 * 1024)
#define FLOW_BUDGET_US	((uint64_t)250 * 1000)
/* The budget comes back at 1/FLOW_LEAK of the time that passes. */
#define FLOW_LEAK	20
#define FLOW_STALL_US	((uint64_t)5 * 1000 * 1000)

struct flow_client {
	uint64_t	 cursor;	/* bytes before it are the client's */
	uint64_t	 held_us;	/* what it has used of its budget */
	/* as of the last look */
	uint64_t	 seen;		/* the cursor */
	uint64_t	 moved_us;	/* when that last moved, or had no reason to */
	bool		 at_end;
	bool		 lagging;
	bool		 stalled;
	bool		 holding;
};

struct term_flow {
	uint64_t	 window;	/* bytes */
	uint64_t	 now_us;	/* of the last look; 0 = none yet */
	uint64_t	 limit;		/* the answer then */
};

/* ring is the size of the session's ring in bytes. */
void	 term_flow_init(struct term_flow *, size_t ring);
/* A client begins; cursor has been set. */
void	 term_flow_join(struct flow_client *, uint64_t now_us);
/*
 * Looks at all clients: no byte at or after the limit that is returned
 * shall be read from the terminal; FLOW_UNLIMITED = all may.  *again_us is
 * when to look again at the latest, 0 = only when something has happened.
 */
uint64_t term_flow_look(struct term_flow *, struct flow_client *const *,
    size_t n, uint64_t total, uint64_t now_us, uint64_t *again_us);

#endif
