/* SPDX-License-Identifier: ISC */
/*
 * Starts under way: the launcher forks a first process, which becomes the
 * owner and makes the rest, and hears from all of them over one socket.  It
 * never waits for them: an answer comes, or the socket closes, or time is up.
 */
#ifndef LAUNCHER_PENDING_START_H
#define LAUNCHER_PENDING_START_H

#include <stdint.h>

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
 * Messages of a process that is being started.  The fds that come with one are
 * in the order of their kinds (RUN_FD_* and the like); a message, and so a
 * wakeup, for each fd would be expensive.
 */
enum { UP_FDS = 1, UP_PID, UP_FAILED };
#define UP_FDS_MAX	RUN_FD_COUNT
struct up {
	uint32_t	what;
	uint32_t	fds;	/* 1 << kind for each */
	uint32_t	a;	/* pid in its own namespace; step */
	uint32_t	b;	/* errno */
};

/*
 * Runs in the new process with the socket as UP_SOCK and the kept fds as
 * KEPT_FD and KEPT_FD2 (child.h), all others closed; arg is as it was in the
 * launcher.
 */
typedef void __attribute__((noreturn)) (*pending_fn)(const void *arg);

/*
 * Starts fn for the request m of that user's, who has a share of what can be
 * under way, so that nobody keeps others from starting.  The fds are borrowed,
 * -1 = none.  Answers m itself, also when it cannot even begin.
 */
void	 pending_begin(const struct msg *m, enum pending_kind, uint32_t uid,
	    pending_fn, const void *arg, const int keep_fds[2], int cgroup_fd);
/* Answers m with the failure of a step, errno. */
void	 pending_refuse(const struct msg *m, enum pending_kind, uint32_t step);
/* The spawner has gone: ends what it asked for. */
void	 pending_drop_all(void);

#endif
