/* SPDX-License-Identifier: ISC */
/*
 * Children that are killed before they have run: stillborn COUNT.  Between
 * them a function is called.
 */
#include <sys/wait.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))

APART int
beat(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 1);
}

int
main(int argc, char *argv[])
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (pid == 0) {
			(void)pause();
			_exit(0);
		}
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		(void)beat(i);
	}
	return (0);
}
