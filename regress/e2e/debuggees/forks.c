/* SPDX-License-Identifier: ISC */
/* Parent and child come by the same line. */
#include <sys/wait.h>

#include <stdio.h>
#include <unistd.h>

static int
both(int code)
{
	return code + 1;
}

int
main(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(both(4));
	waitpid(pid, &status, 0);
	printf("child %d %d\n", WEXITSTATUS(status), WTERMSIG(status));
	fflush(stdout);
	return both(6);
}
