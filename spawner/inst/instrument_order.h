/* SPDX-License-Identifier: ISC */
/*
 * Processes of a session's owner outside of its sandbox, ordered from the
 * launcher: until they are there, or it is known why not.
 */
#ifndef SPAWNER_INSTRUMENT_ORDER_H
#define SPAWNER_INSTRUMENT_ORDER_H

#include <sys/queue.h>

#include "base/loop.h"
#include "spawner/session/session.h"
#include "wire/proto.h"

struct inst_order;

struct inst_order_ops {
	const char	*name;		/* "debugger" */
	enum role	 role;
	enum err	 lost;		/* it could not be started */
	/* Both fds are there, and stay the order's until they are taken. */
	void		(*came)(struct inst_order *);
	void		(*failed)(struct inst_order *, enum err,
			    const char *why);
};

struct inst_order {
	LIST_ENTRY(inst_order) next;
	const struct inst_order_ops *ops;
	struct session	*session;
	uint64_t	 serial;	/* of INSTRUMENT; 0 = not under way */
	int		 fds[INSTRUMENT_FD_COUNT];
	struct loop_timer timer;
};

/* Before anything else. */
void	inst_order_init(struct inst_order *, struct session *,
	    const struct inst_order_ops *);
/*
 * The rights are those of the owner's account.  -1 = there is no launcher; else
 * one of the two calls follows, unless inst_order_end() comes first.
 */
int	inst_order_send(struct inst_order *, const struct run_owner *);
/* Nothing follows any more; the pidfd alone stays open. */
void	inst_order_end(struct inst_order *);
void	inst_order_launcher_lost(void);

#endif
