/* SPDX-License-Identifier: ISC */
/* Features that this host offers to sessions: the rows of DEPS. */
#ifndef LAUNCHER_OBSERVER_PROBE_H
#define LAUNCHER_OBSERVER_PROBE_H

#include "wire/msg.h"

/* Puts u32 n and n rows. */
void	probe_put(struct msg_out *);

#endif
