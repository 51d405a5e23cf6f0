/* SPDX-License-Identifier: ISC */
/* Whether a process has ended. */
#ifndef LAUNCHER_BASE_ENDED_H
#define LAUNCHER_BASE_ENDED_H

#include <stdbool.h>

/* By its pidfd; signals for it succeed until it is reaped. */
bool	has_ended(int pidfd);

#endif
