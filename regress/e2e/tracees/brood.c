/* SPDX-License-Identifier: ISC */
/* Forks child after child until it is ended: a late tracer sees some. */
#include <sys/wait.h>

#include <unistd.h>

__attribute__((noinline, noclone)) int
hatch(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n & 63);
}

__attribute__((noinline, noclone)) int
brood(int n)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(hatch(n));
	if (pid == -1 || waitpid(pid, &status, 0) != pid)
		return (-1);
	return (WEXITSTATUS(status));
}

int
main(void)
{
	int i;

	for (i = 0; ; i++) {
		(void)brood(i);
		usleep(20000);
	}
}
