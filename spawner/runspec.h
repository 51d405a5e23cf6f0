/* SPDX-License-Identifier: ISC */
/* What the launcher is told about a program. */
#ifndef SPAWNER_RUNSPEC_H
#define SPAWNER_RUNSPEC_H

#include "run.h"
#include "session.h"

/* argv and envp point into static memory, good until the next call. */
void	runspec_fill(struct run_spec *, const struct session *,
	    const struct account *);

#endif
