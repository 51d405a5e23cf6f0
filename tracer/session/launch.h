/* SPDX-License-Identifier: ISC */
/* A program that is started to be traced. */
#ifndef TRACER_LAUNCH_H
#define TRACER_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct op;

/* The requests launch and resume. */
void	 launch_run(struct op *);
void	 launch_resume(struct op *);
/* Whether one is being started. */
bool	 launch_pending(void);
/* It stands at its first instruction; false: it is not what was started. */
bool	 launch_has_run(pid_t);
/* Tracing stops: what stands goes on, who waits is told. */
void	 launch_stopped(void);

#endif
