/* SPDX-License-Identifier: ISC */
/* The audit file: lines are added to it and nothing else. */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "auditfile.h"
#include "base/log.h"
#include "base/utc.h"
#include "kept.h"

static int	audit_fd = -1;		/* -1 = none */

void
auditfile_use(int fd, bool another)
{
	if (audit_fd != -1)
		close(audit_fd);
	audit_fd = fd;
	if (another) {
		kept->torn = 0;
		kept->missing = 0;
	}
}

/* Whole, or the file has a torn line that the next one ends. */
static int
put(const char *line)
{
	char out[LOG_LINE_MAX + 64], when[UTC_TEXT];
	ssize_t n;
	int len;

	len = snprintf(out, sizeof(out), "%s%s %s\n", kept->torn ? "\n" : "",
	    utc_text(time(NULL), when), line);
	n = write(audit_fd, out, (size_t)len);
	if (n == len) {
		kept->torn = 0;
		return 0;
	}
	if (n > 0) {
		kept->torn = out[n - 1] != '\n';
		errno = ENOSPC;
	}
	return -1;
}

/*
 * Without room the daemon goes on, as the same lines are in the log; one
 * line there and one in the file say what the file lacks.
 */
void
auditfile_line(const char *line)
{
	unsigned long missing = kept->missing;
	char text[96];

	if (audit_fd == -1)
		return;
	if (missing > 0) {
		(void)snprintf(text, sizeof(text), "%lu lines are missing "
		    "here, see the log", missing);
		if (put(text) == -1) {
			kept->missing++;
			return;
		}
		log_warnx("audit-file: it is written again; %lu lines are "
		    "missing in it", missing);
		kept->missing = 0;
	}
	if (put(line) == -1 && kept->missing++ == 0)
		log_warn("audit-file: cannot be written, lines go to the log "
		    "alone");
}
