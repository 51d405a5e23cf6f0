/* SPDX-License-Identifier: ISC */
/*
 * archiver: one job with one archive, then gone.
 *
 *	archiver unpack MAXBYTES MAXMEMBERS MAXPATH EXECPATH yes|no
 *	    fd 0 the archive, working directory an empty one to unpack into
 *	archiver pack MAXBYTES
 *	    fd 0 an empty file for the tar.gz of the system's libraries
 *
 * fd 1 is the pipe for reports (jobreport.h), fd 2 says only what is wrong
 * with the arguments.  The launcher starts it as the session's owner in a
 * sandbox; here it takes still more from itself before the first byte is read.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cage.h"
#include "pack.h"
#include "report.h"
#include "unpack.h"

/* Between one write that fits and what the job's own count refuses. */
#define FSIZE_SLACK	65536

struct command {
	const char *name;
	int nargs;
	int (*run)(struct job *, char **);
};

/* Decimal digits and nothing else, 1 to max; 0 says that it is not. */
static uint64_t
number(const char *s, uint64_t max)
{
	unsigned long long v;

	if (s[0] == '\0' || s[strspn(s, "0123456789")] != '\0')
		return 0;
	errno = 0;
	v = strtoull(s, NULL, 10);
	return errno == 0 && v <= max ? v : 0;
}

static int
bad_number(struct job *job, const char *what)
{
	return job_fail(job, ERR_INTERNAL,
	    "%s is not a decimal number in range", what);
}

static int
caged(struct job *job, const char *step)
{
	if (step == NULL)
		return 0;
	return job_fail(job, ERR_INTERNAL, "archiver cannot %s: %s", step,
	    strerror(errno));
}

static int
run_unpack(struct job *job, char **args)
{
	struct unpack_limits max;
	int root_fd;

	max.bytes = number(args[0], INT64_MAX - FSIZE_SLACK);
	max.members = number(args[1], UINT32_MAX);
	max.path = (size_t)number(args[2], PATH_MAX - 1);
	if (max.bytes == 0)
		return bad_number(job, "MAXBYTES");
	if (max.members == 0)
		return bad_number(job, "MAXMEMBERS");
	if (max.path == 0)
		return bad_number(job, "MAXPATH");
	max.narrow = strcmp(args[4], "yes") == 0 ? ELF_32BIT_GOOD :
	    ELF_32BIT_FORBIDDEN;
	root_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd == -1)
		return job_fail(job, ERR_INTERNAL, "open of \".\": %s",
		    strerror(errno));
	if (unpack_prepare(job) == -1 ||
	    caged(job, cage_unpack(root_fd, max.bytes)) == -1)
		return -1;
	return unpack_run(job, root_fd, &max, args[3]);
}

static int
run_pack(struct job *job, char **args)
{
	uint64_t max = number(args[0], INT64_MAX - FSIZE_SLACK);
	int dir_fds[PACK_ROOTS];
	size_t n;

	if (max == 0)
		return bad_number(job, "MAXBYTES");
	if (pack_prepare(job, dir_fds, &n) == -1 ||
	    caged(job, cage_pack(dir_fds, n, max + FSIZE_SLACK)) == -1)
		return -1;
	return pack_run(job, max);
}

static const struct command commands[] = {
	{ "unpack", 5, run_unpack },
	{ "pack", 1, run_pack },
	{ NULL, 0, NULL }
};

static const struct command *
find_command(int argc, char **argv)
{
	const struct command *c;

	for (c = commands; c->name != NULL; c++) {
		if (argc == c->nargs + 2 && strcmp(argv[1], c->name) == 0)
			return c;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	static struct job job;
	const struct command *c = find_command(argc, argv);

	if (c == NULL) {
		fputs("usage: archiver unpack MAXBYTES MAXMEMBERS MAXPATH "
		    "EXECPATH yes|no\n       archiver pack MAXBYTES\n", stderr);
		return 1;
	}
	if (close_range(3, ~0U, 0) == -1) {
		perror("archiver: close_range");
		return 1;
	}
	(void)umask(0);
	/* zip has local times, and mktime(3) would read /etc/localtime */
	(void)setenv("TZ", "UTC0", 1);
	tzset();
	(void)c->run(&job, argv + 2);
	/* nothing is buffered, and exit handlers need more system calls */
	_exit(job_end(&job));
}
