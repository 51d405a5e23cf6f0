/* SPDX-License-Identifier: ISC */
/* How a run ends. */
#ifndef SPAWNER_EXIT_H
#define SPAWNER_EXIT_H

#include "session.h"

/*
 * Takes both: the stub's reports, and its pidfd.  -1 with errno when they
 * cannot be watched; the stub ends its tree then.
 */
int	exit_watch(struct session *, int status_fd, int stub_fd);

#endif
