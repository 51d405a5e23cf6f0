/* SPDX-License-Identifier: ISC */
/* Children of all kinds: forks.c HOW COUNT */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/wait.h>

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline, noclone)) int
mark(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n + 1);
}

/* open while the process is split: both return through it */
__attribute__((noinline, noclone)) pid_t
split(int n)
{
	pid_t pid = fork();

	return (pid == 0 ? -mark(n) : pid);
}

/* a child without SIGCHLD */
__attribute__((noinline, noclone)) pid_t
bare(int n)
{
	pid_t pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);

	return (pid == 0 ? -mark(n) : pid);
}

static volatile int begun;

static void *
guest(void *arg)
{
	if (vfork() == 0) {
		begun = 1;
		(void)usleep(500000);
		execl("/bin/echo", "echo", "guest", NULL);
		_exit(1);
	}
	return (arg);
}

int
main(int argc, char *argv[])
{
	pthread_t thread;
	char *sh[] = { "true", NULL };
	int i, status, n = argc > 2 ? atoi(argv[2]) : 3, good = 0;
	pid_t pid;

	for (i = 0; i < n; i++) {
		if (strcmp(argv[1], "guest") == 0) {
			(void)pthread_create(&thread, NULL, guest, NULL);
			while (!begun)
				(void)usleep(1000);
			execl("/bin/sleep", "sleep", "1", NULL);
			return (2);
		}
		if (strcmp(argv[1], "fork") == 0 ||
		    strcmp(argv[1], "bare") == 0) {
			pid = argv[1][0] == 'f' ? split(i) : bare(i);
			if (pid < 0) {
				_exit(mark(40) + (-pid == i + 1));
			}
		} else if (strcmp(argv[1], "spawn") == 0) {
			if (posix_spawn(&pid, "/bin/true", NULL, NULL, sh,
			    environ) != 0)
				return (1);
		} else if (strcmp(argv[1], "exec") == 0) {
			(void)mark(i);
			execl("/proc/self/exe", argv[0], "done", "0", NULL);
			return (2);
		} else
			break;
		(void)mark(i);
		if (waitpid(pid, &status, __WALL) == pid && WIFEXITED(status) &&
		    (WEXITSTATUS(status) == 42 || WEXITSTATUS(status) == 0))
			good++;
	}
	(void)mark(100);
	printf("%d\n", good);
	return (0);
}
