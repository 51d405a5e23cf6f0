/* SPDX-License-Identifier: ISC */
/* How a run ends. */
#ifndef SPAWNER_EXIT_H
#define SPAWNER_EXIT_H

#include "session.h"

/* Takes both: the stub's reports, and its pidfd. */
void	exit_watch(struct session *, int status_fd, int stub_fd);

#endif
