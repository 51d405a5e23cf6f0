/* SPDX-License-Identifier: ISC */
/*
 * Baseline for capture: a command's stdout, read from a pipe and dropped.
 * usage: drain COMMAND [ARG ...]; prints bytes and nanoseconds.
 */
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "sample.h"

static __attribute__((noinline)) pid_t
spawn(int out_fd, char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		if (dup2(out_fd, STDOUT_FILENO) != -1)
			execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

int
main(int argc, char **argv)
{
	static char buf[64 * 1024];
	uint64_t start, bytes = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: drain COMMAND [ARG ...]");
	if (pipe2(fds, O_CLOEXEC) == -1)
		err(1, "pipe");
	start = clock_ns();
	if ((pid = spawn(fds[1], argv + 1)) == -1)
		err(1, "vfork");
	close(fds[1]);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		bytes += (uint64_t)n;
	if (n == -1 || waitpid(pid, &status, 0) == -1 || status != 0)
		errx(1, "%s failed", argv[1]);
	printf("{\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64 "}\n", bytes,
	    clock_ns() - start);
	return 0;
}
