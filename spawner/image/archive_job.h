/* SPDX-License-Identifier: ISC */
/* Jobs of the archiver: unpacking a bundle, packing the sysroot. */
#ifndef SPAWNER_ARCHIVE_JOB_H
#define SPAWNER_ARCHIVE_JOB_H

#include <stddef.h>

#include "spawner/session/session.h"

/* Unpacks the sealed archive of s; answers the asker when it is done. */
void	archive_job_unpack(struct session *s, struct asker *);
/* Kills the job's process, as its result is not wanted any more. */
void	archive_job_cancel(struct archive_job *);
void	archive_job_cancel_all(void);
void	archive_job_launcher_lost(void);
/* Ends that connection's sysroots, or all (0): they have no reader any more. */
void	archive_job_drop_packs(uint32_t conn);
/* Jobs whose processes may still exist. */
size_t	archive_job_count(void);

#endif
