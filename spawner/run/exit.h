/* SPDX-License-Identifier: ISC */
/* How a run ends. */
#ifndef SPAWNER_EXIT_H
#define SPAWNER_EXIT_H

#include "spawner/session/session.h"

/*
 * Takes both: the stub's reports, and its pidfd.  -1 with errno when they
 * cannot be watched; the stub ends its tree then.
 */
int	exit_watch(struct session *, int status_fd, int stub_fd);
/* Takes memory.events of its cgroup, by which its end is explained; -1 = none. */
void	exit_watch_memory(struct session *, int events_fd);
/*
 * Ends a run if it can: its tree is gone, and its output is not.  Some of the
 * output has been taken, or the clients that it waited for have gone.
 */
void	exit_again(struct session *);
/* The stub may have told of the program's end already: then that is known. */
void	exit_look(struct session *);
/*
 * Ends at once a run whose tree is gone, even if clients wait for its output;
 * false for any other run.
 */
bool	exit_now(struct session *);

#endif
