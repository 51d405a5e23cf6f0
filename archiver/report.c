/* SPDX-License-Identifier: ISC */
/* Reports: fixed-size records on fd 1, text made harmless before it leaves. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "report.h"

static int
send_report(const struct job *job, enum jobreport_kind kind)
{
	struct jobreport r;
	ssize_t n;

	memset(&r, 0, sizeof(r));
	r.kind = kind;
	r.code = kind == JOBREPORT_FAILED ? job->code : ERR_OK;
	r.bytes = job->bytes;
	r.members = job->members;
	r.skipped = job->skipped;
	if (kind == JOBREPORT_FAILED)
		memcpy(r.text, job->why, strlen(job->why));
	do
		n = write(STDOUT_FILENO, &r, sizeof(r));
	while (n == -1 && errno == EINTR);
	return n == (ssize_t)sizeof(r) ? 0 : -1;
}

void
job_progress(struct job *job)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (job->told == 0)
		job->told = (uint64_t)now.tv_sec;
	if ((uint64_t)now.tv_sec == job->told)
		return;
	job->told = (uint64_t)now.tv_sec;
	/* as PID 1 of a namespace SIGPIPE does not end us: nobody is left */
	if (send_report(job, JOBREPORT_PROGRESS) == -1)
		_exit(1);
}

int
job_fail(struct job *job, enum err code, const char *fmt, ...)
{
	va_list ap;
	size_t i;

	if (job->code != ERR_OK)
		return -1;
	job->code = code;
	va_start(ap, fmt);
	vsnprintf(job->why, sizeof(job->why), fmt, ap);
	va_end(ap);
	/* libarchive's messages quote the archive */
	for (i = 0; job->why[i] != '\0'; i++) {
		if (job->why[i] < 0x20 || job->why[i] > 0x7e)
			job->why[i] = '?';
	}
	return -1;
}

int
job_end(const struct job *job)
{
	int failed = job->code != ERR_OK;

	if (send_report(job,
	    failed ? JOBREPORT_FAILED : JOBREPORT_DONE) == -1)
		return 1;
	return failed;
}

char *
job_name(char dst[JOB_NAME], const char *name)
{
	size_t len = strlen(name);

	log_escape(dst, JOB_NAME, name, len);
	/* the escapes are one to four long: cut where the dots still fit */
	if (len >= JOB_NAME - 4)
		memcpy(dst + strnlen(dst, JOB_NAME - 4), "...", 4);
	return dst;
}
