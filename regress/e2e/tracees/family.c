/* SPDX-License-Identifier: ISC */
/* A child, and what it becomes. */
#include <sys/wait.h>

#include <string.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int
work(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 100);
}

int
main(int argc, char *argv[])
{
	int status = 0;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		(void)work(3);
		return (4);
	}
	(void)work(1);
	pid = fork();
	if (pid == 0) {
		(void)work(2);
		(void)execl(argv[0], argv[0], "child", (char *)NULL);
		_exit(9);
	}
	(void)waitpid(pid, &status, 0);
	(void)work(WEXITSTATUS(status));
	return (0);
}
