/* SPDX-License-Identifier: ISC */
/* OUTPUT and FOLLOW: what programs wrote, from their rings. */
#ifndef DL_NET_OUTPUT_H
#define DL_NET_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "conn.h"
#include "hold.h"
#include "netproc/text/line.h"

struct rsession;

struct follow {
	uint64_t	 offset;
	uint32_t	 run;		/* 0 = has not started yet */
	bool		 base64;
	struct hold	 hold;
	/* How the run ended: the session may be in its next one by now. */
	bool		 ended, has_exit_code, out_of_memory;
	uint32_t	 exit_code, signal;
	uint64_t	 total;
};

/* The state of a connection that follows output, or is sent it whole. */
static inline struct follow *
follow_state(const struct conn *c)
{
	return conn_state(c, struct follow);
}

void	cmd_output(struct conn *, struct rsession *, const struct words *);
void	cmd_follow(struct conn *, struct rsession *, const struct words *);

#endif
