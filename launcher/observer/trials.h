/* SPDX-License-Identifier: ISC */
/* Trials of what sessions need of the host. */
#ifndef LAUNCHER_OBSERVER_TRIALS_H
#define LAUNCHER_OBSERVER_TRIALS_H

/* Fills in the facts that only a trial tells.  Waits for the processes. */
void	trials_run(void);

#endif
