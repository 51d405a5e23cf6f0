/* SPDX-License-Identifier: ISC */
/* Reports from a job to the spawner. */
#ifndef ARCHIVER_REPORT_H
#define ARCHIVER_REPORT_H

#include <stdint.h>

#include "wire/jobreport.h"

/* Each process has one; the job itself counts up bytes, members and skipped. */
struct job {
	uint64_t bytes;
	uint64_t members;
	uint64_t skipped;
	uint64_t told;		/* second of the last PROGRESS */
	enum err code;		/* ERR_OK until job_fail() */
	char why[JOBREPORT_TEXT];
};

/* Sends a PROGRESS record if a second has gone by since the last. */
void	 job_progress(struct job *);

/*
 * Keeps the reason of the first failure, made printable; the caller unwinds.
 * Always returns -1.
 */
int	 job_fail(struct job *, enum err, const char *, ...)
	    __attribute__((format(printf, 3, 4)));

/* Sends DONE or, after job_fail(), FAILED; returns the exit code. */
int	 job_end(const struct job *);

/* A name in a form fit for a sentence; dst is returned. */
#define JOB_NAME	72
char	*job_name(char dst[JOB_NAME], const char *name);

#endif
