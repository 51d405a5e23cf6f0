/* SPDX-License-Identifier: ISC */
/* Process set-up common to all clients. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "start.h"

/*
 * A connection would otherwise get the number of standard output, and the
 * client would send to the daemon what it prints.
 */
static void
fill_standard_fds(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", O_RDONLY) != fd)
			err(2, "/dev/null");
}

void
client_start(void)
{
	fill_standard_fds();
	/* ignored, it would make waitpid(2) fail */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
}
