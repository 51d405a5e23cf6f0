/* SPDX-License-Identifier: ISC */
/*
 * Flow control of a session's output.  While a client that is to have all of
 * the output is behind, the output waits in the program's pipe or terminal, and
 * the program blocks.
 */
#ifndef SPAWNER_OUTPUT_FLOW_H
#define SPAWNER_OUTPUT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/loop.h"

struct client;
struct hold;
struct session;

struct flow {
	LIST_ENTRY(flow) limited;	/* while there is a limit */
	struct session	*session;
	LIST_HEAD(, hold) holds;	/* of pipes: followers that lose nothing */
	uint64_t	 limit;		/* of a terminal */
	uint32_t	 limited_by;		/* the connection that set it */
	bool		 paused;	/* nothing is read just now */
	struct loop_timer timer;	/* of who is silent, or may come back */
};

void	 flow_init(struct session *);
/* A run begins: those who held the session before it hold the run. */
void	 flow_begin(struct session *);
/* The run is over, or the session: nobody holds it any more. */
void	 flow_stop(struct session *);
/* Whether somebody is to lose nothing of its pipes. */
bool	 flow_is_held(const struct session *);
/*
 * How much may be read now, max at most.  After 0 tty_resume() or
 * output_resume() is called when there is more.
 */
size_t	 flow_allowance(struct session *, size_t max);
/* Whether rest bytes more would overwrite what a holder has not got. */
bool	 flow_would_lose(const struct session *, size_t rest);

/* The connection has ended, or its rights. */
void	 flow_drop_client(struct client *);
/* Others may use the session now, or not any more. */
void	 flow_access_changed(struct session *);
/* netproc has gone: who held is given time to come back. */
void	 flow_netproc_lost(void);

#endif
