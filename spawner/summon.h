/* SPDX-License-Identifier: ISC */
/*
 * Processes of a session's owner outside of its sandbox, ordered from the
 * launcher: until they are there, or it is known why not.
 */
#ifndef SPAWNER_SUMMON_H
#define SPAWNER_SUMMON_H

#include <sys/queue.h>

#include "loop.h"
#include "proto.h"
#include "session.h"

struct summon;

struct summon_ops {
	const char	*name;		/* "debugger" */
	enum role	 role;
	enum err	 lost;		/* it could not be started */
	/* Both fds are there, and stay the summon's until they are taken. */
	void		(*came)(struct summon *);
	void		(*failed)(struct summon *, enum err, const char *why);
};

struct summon {
	LIST_ENTRY(summon) next;
	const struct summon_ops *ops;
	struct session	*session;
	uint64_t	 serial;	/* of INSTRUMENT; 0 = not under way */
	int		 fds[INSTRUMENT_FD_COUNT];
	struct loop_timer timer;
};

/* Before anything else. */
void	summon_init(struct summon *, struct session *,
	    const struct summon_ops *);
/*
 * The rights are those of the owner's account.  -1 = there is no launcher; else
 * one of the two calls follows, unless summon_end() comes first.
 */
int	summon_send(struct summon *, const struct run_owner *);
/* Nothing follows any more; the pidfd alone stays open. */
void	summon_end(struct summon *);
void	summon_launcher_lost(void);

#endif
