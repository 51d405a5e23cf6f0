/* SPDX-License-Identifier: ISC */
/* Features that this host offers to sessions: the rows of DEPS. */
#ifndef LAUNCHER_PROBE_H
#define LAUNCHER_PROBE_H

#include "wire/msg.h"

/* Puts u32 n and n rows. */
void	probe_put(struct msg_out *);
/* Tries to make a user namespace; 0 or its errno.  Waits for the trial. */
int	probe_userns(void);
/* Tries to mount /proc in a new user namespace; 0 or errno.  Waits for it. */
int	probe_proc(void);

#endif
