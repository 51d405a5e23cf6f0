/* SPDX-License-Identifier: ISC */
/* Jobs of the archiver: unpacking a bundle, packing the sysroot. */
#ifndef SPAWNER_JOB_H
#define SPAWNER_JOB_H

#include <stddef.h>

#include "session.h"

/* Unpacks the sealed archive of s; answers the asker when it is done. */
void	job_unpack(struct session *s, struct asker *);
/* Nobody wants its result any more; its process is killed. */
void	job_cancel(struct job *);
void	job_cancel_all(void);
void	job_launcher_lost(void);
/* Nobody reads the sysroot of that connection, or of any (0), any more. */
void	job_drop_packs(uint32_t conn);
/* Jobs whose processes may still exist. */
size_t	job_count(void);

#endif
