/* SPDX-License-Identifier: ISC */
/* What is done by way of debuggers, for the audit log. */
#ifndef SPAWNER_DBGAUDIT_H
#define SPAWNER_DBGAUDIT_H

#include "dbg.h"

/* It has been answered. */
void	 dbgaudit_done(struct dbgproc *, const struct dbg_asked *, bool failed);
/* Nobody waits for its answer, and what came of it is not known. */
void	 dbgaudit_left(struct dbgproc *, const struct dbg_asked *);
/* What was only counted is written; the debugger goes. */
void	 dbgaudit_end(struct dbgproc *);

#endif
