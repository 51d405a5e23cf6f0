/* SPDX-License-Identifier: ISC */
/* Files that are there when they are whole: written beside their place, and
 * renamed. */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "client/lib/report.h"
#include "client/lib/signals.h"

static volatile sig_atomic_t interrupts;

/* Ctrl-C must reach the clean-up of a file that is half there. */
static void
interrupted(int signo)
{
	(void)signo;
	interrupts = 1;
}

static void
catch_interrupts(void)
{
	static const int ours[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = interrupted };
	size_t i;

	/* No SA_RESTART: the wait for bytes has to end. */
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (signal_wanted(ours[i]))
			sigaction(ours[i], &sa, NULL);
}

int
atomic_file_failed(const struct atomic_file *w)
{
	/* head(1) has had enough: that is no trouble to tell of */
	if (errno != EPIPE)
		report("cannot write %s: %s", w->path, strerror(errno));
	return CTL_USAGE;
}

int
atomic_file_begin(struct atomic_file *w, const char *path)
{
	struct stat st;

	*w = (struct atomic_file){ .path = path, .out_fd = STDOUT_FILENO };
	if (strcmp(path, "-") == 0) {
		w->path = "standard output";
		return 0;
	}
	/* A device or a pipe takes the bytes itself: nothing may replace it. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		w->out_fd = open(path, O_WRONLY | O_CLOEXEC);
		goto done;
	}
	if (asprintf(&w->part, "%s.XXXXXX", path) == -1)
		err(CTL_USAGE, NULL);
	w->out_fd = mkostemp(w->part, O_CLOEXEC);
	catch_interrupts();
done:
	if (w->out_fd != -1)
		return 0;
	atomic_file_failed(w);
	free(w->part);
	return -1;
}

int
atomic_file_write(struct atomic_file *w, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n) {
		errno = EINTR;
		if (interrupts || (n = write(w->out_fd, p, len)) == -1)
			return -1;
	}
	return 0;
}

/* fsync: a full disk may tell only now. */
static int
name_it(struct atomic_file *w)
{
	mode_t mask;

	umask(mask = umask(0));
	if (fchmod(w->out_fd, 0666 & ~mask) == -1 || fsync(w->out_fd) == -1 ||
	    rename(w->part, w->path) == -1) {
		atomic_file_failed(w);
		return -1;
	}
	return 0;
}

int
atomic_file_end(struct atomic_file *w, bool good)
{
	int code = CTL_OK;

	if (w->part != NULL && (!good || name_it(w) == -1)) {
		unlink(w->part);
		code = CTL_USAGE;
	}
	free(w->part);
	if (w->out_fd != STDOUT_FILENO)
		close(w->out_fd);
	return code;
}
