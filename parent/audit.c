/* SPDX-License-Identifier: ISC */
/*
 * The audit file, which setup has opened: lines are added to it and nothing
 * else.
 */
#include <sys/stat.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utc.h"
#include "parent.h"

static int	audit_fd = -1;		/* -1 = none */
static bool	torn;			/* the last line was not ended */
static unsigned long missing;		/* lines, since the file is full */

bool
audit_is_open(void)
{
	return audit_fd != -1;
}

void
audit_which(uint64_t *dev, uint64_t *ino)
{
	struct stat st;

	if (audit_fd == -1 || fstat(audit_fd, &st) == -1)
		return;
	*dev = st.st_dev;
	*ino = st.st_ino;
}

void
audit_commit(void)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	/* a limit on file sizes is no reason to end either */
	(void)sigaction(SIGXFSZ, &sa, NULL);
	if (d.plan->audit == AUDIT_KEPT)
		return;
	if (audit_fd != -1)
		close(audit_fd);
	audit_fd = d.plan->audit_fd;
	d.plan->audit_fd = -1;
	torn = false;
	missing = 0;
}

/* Whole, or the file has a torn line that the next one ends. */
static int
put(const char *line)
{
	char out[LOG_LINE_MAX + 64], when[UTC_TEXT];
	ssize_t n;
	int len;

	len = snprintf(out, sizeof(out), "%s%s %s\n", torn ? "\n" : "",
	    utc_text(time(NULL), when), line);
	n = write(audit_fd, out, (size_t)len);
	if (n == len) {
		torn = false;
		return 0;
	}
	if (n > 0) {
		torn = out[n - 1] != '\n';
		errno = ENOSPC;
	}
	return -1;
}

/*
 * Without room the daemon goes on, as the same lines are in the log; one
 * line there and one in the file say what the file lacks.
 */
void
audit_line(const char *line)
{
	char text[96];

	if (audit_fd == -1)
		return;
	if (missing > 0) {
		(void)snprintf(text, sizeof(text), "%lu lines are missing "
		    "here, see the log", missing);
		if (put(text) == -1) {
			missing++;
			return;
		}
		log_warnx("audit-file: it is written again; %lu lines are "
		    "missing in it", missing);
		missing = 0;
	}
	if (put(line) == -1 && missing++ == 0)
		log_warn("audit-file: cannot be written, lines go to the log "
		    "alone");
}
