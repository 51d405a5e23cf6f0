/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * Forks twice and leaves with 7, while the grandchild, in a session of its
 * own, goes on until it is killed.  It says its number and, on SIGTERM,
 * "grandchild ends".
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void
on_term(int sig)
{
	(void)sig;
	if (write(STDOUT_FILENO, "grandchild ends\n", 16) != 16)
		_exit(1);
	_exit(0);
}

int
main(void)
{
	int fds[2];
	char c;
	pid_t pid;

	if (pipe(fds) == -1 || (pid = fork()) == -1)
		return 1;
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		signal(SIGTERM, on_term);
		dprintf(STDOUT_FILENO, "grandchild lives\n");
		if (write(fds[1], "", 1) != 1)
			_exit(1);
		close(fds[0]);
		close(fds[1]);
		for (;;)
			pause();
	}
	if (read(fds[0], &c, 1) != 1)
		return 1;
	return 7;
}
