/* SPDX-License-Identifier: ISC */
/* The QUOTA command. */
#ifndef SPAWNER_QUOTAS_H
#define SPAWNER_QUOTAS_H

/* netproc has gone: nobody waits for an answer any more. */
void	quotas_drop_waiting(void);
/* The launcher has gone: they are answered without what it counts. */
void	quotas_launcher_lost(void);

#endif
