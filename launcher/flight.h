/* SPDX-License-Identifier: ISC */
/*
 * Starts in flight: the launcher forks a first process, which becomes the
 * owner and makes the rest, and hears from all of them over one socket.  It
 * never waits for them: an answer comes, or the socket closes, or time is up.
 */
#ifndef LAUNCHER_FLIGHT_H
#define LAUNCHER_FLIGHT_H

#include <stdint.h>

#include "msg.h"
#include "proto.h"

enum flight_kind {
	FLIGHT_RUN,
	FLIGHT_ATTACH,
	FLIGHT_JOB,
	FLIGHT_INSTRUMENT,
	FLIGHT_KINDS
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
typedef void __attribute__((noreturn)) (*flight_fn)(const void *arg);

/*
 * Starts fn for the request m of that user's, who has a share of what can be
 * under way, so that nobody keeps others from starting.  The fds are borrowed,
 * -1 = none.  Answers m itself, also when it cannot even begin.
 */
void	 flight_begin(const struct msg *m, enum flight_kind, uint32_t uid,
	    flight_fn, const void *arg, const int keep_fds[2], int cgroup_fd);
/* Answers m with the failure of a step, errno. */
void	 flight_refuse(const struct msg *m, enum flight_kind, uint32_t step);
/* The spawner has gone: ends what it asked for. */
void	 flight_drop_all(void);

#endif
