/* SPDX-License-Identifier: ISC */
/*
 * usage: pty command [argument ...]
 * Runs it on a raw terminal and reads what it writes, with nothing else to
 * do: prints the time from its start to its last byte, and how many came.
 */
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "sample.h"

/* The master; *slave is raw. */
static int
open_terminal(int *slave)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	if (fd == -1 || grantpt(fd) == -1 || unlockpt(fd) == -1)
		err(1, "posix_openpt");
	*slave = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*slave == -1 || tcgetattr(*slave, &t) == -1)
		err(1, "slave");
	cfmakeraw(&t);
	if (tcsetattr(*slave, TCSANOW, &t) == -1)
		err(1, "tcsetattr");
	return fd;
}

int
main(int argc, char **argv)
{
	static char buf[65536];
	uint64_t begin = clock_ns(), bytes = 0;
	int fd, slave;
	ssize_t n;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: pty command [argument ...]");
	fd = open_terminal(&slave);
	pid = fork();
	if (pid == -1)
		err(1, "fork");
	if (pid == 0) {
		if (dup2(slave, STDOUT_FILENO) == -1)
			_exit(126);
		(void)execv(argv[1], argv + 1);
		_exit(127);
	}
	(void)close(slave);
	/* its end is an error of the terminal's */
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		bytes += (uint64_t)n;
	printf("{\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64 "}\n", bytes,
	    clock_ns() - begin);
	return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}
