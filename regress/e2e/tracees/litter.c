/* SPDX-License-Identifier: ISC */
/*
 * Children that call a function for as long as their parent is there: litter
 * COUNT FILE.  It makes FILE when all have been born, and ends when that is
 * removed.
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))

APART int
inherit(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 1);
}

static void
live(pid_t parent, int k)
{
	while (getppid() == parent) {
		(void)inherit(k);
		usleep(20000);
	}
	_exit(0);
}

int
main(int argc, char *argv[])
{
	int i, n = argc > 2 ? atoi(argv[1]) : 0;
	pid_t self = getpid();

	if (n == 0)
		return (2);
	for (i = 0; i < n; i++) {
		if (fork() == 0)
			live(self, i);
		usleep(10000);
	}
	(void)close(open(argv[2], O_CREAT | O_WRONLY, 0600));
	while (access(argv[2], F_OK) == 0)
		usleep(20000);
	return (0);
}
