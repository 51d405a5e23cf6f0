/* SPDX-License-Identifier: ISC */
/*
 * Starts under way: the launcher forks a first process, which becomes the
 * owner and makes the rest, and hears from all of them over one socket.  It
 * never waits for them: an answer comes, or the socket closes, or time is up.
 */
#ifndef LAUNCHER_PENDING_START_H
#define LAUNCHER_PENDING_START_H

#include <stdint.h>

#include "launcher/owner/steps.h"
#include "wire/msg.h"
#include "wire/proto.h"

enum pending_kind {
	PENDING_RUN,
	PENDING_ATTACH,
	PENDING_JOB,
	PENDING_INSTRUMENT,
	PENDING_KINDS
};

/*
 * A start: fn runs in a new process that has become the owner, with the socket
 * as UP_SOCK and the kept fds as KEPT_FD and KEPT_FD2 (base/child.h), all others
 * closed; arg is as it was in the launcher.  The fds are borrowed, -1 = none.
 */
struct pending_order {
	enum pending_kind	 kind;
	const struct run_owner	*owner;
	/* NULL, or child_count() of it before the change of user */
	const uint64_t		*processes;
	owner_fn		 fn;
	const void		*arg;
	int			 keep_fds[2];
	int			 cgroup_fd;
};

/*
 * Starts it for the request m; each owner has a share of what can be under way,
 * so that nobody keeps others from starting.  Answers m itself, also when it
 * cannot even begin.
 */
void	 pending_begin(const struct msg *m, const struct pending_order *);
/* Answers m with the failure of a step, errno. */
void	 pending_refuse(const struct msg *m, enum pending_kind, uint32_t step);
/* The spawner has gone: ends what it asked for. */
void	 pending_drop_all(void);

#endif
