/* SPDX-License-Identifier: ISC */
/*
 * Children that outlive who made them.  heirs FILE: a child waits for the
 * file, makes another, and is gone when that one says what it has.  heirs FILE
 * COUNT: as many calls, then children that do nothing until the file is there.
 */
#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int
tell(const char *what, int n, const char *tail)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop" : : : "memory");
	return (n + what[0] - tail[0]);
}

static void
wait_for(const char *file)
{
	while (access(file, F_OK) != 0)
		(void)usleep(10000);
}

static void
heir(pid_t parent)
{
	char what[16];
	int i;

	while (getppid() == parent)
		(void)usleep(10000);
	/* let observers of the parent see that it is gone */
	(void)usleep(300000);
	for (i = 0; i < 20; i++) {
		(void)snprintf(what, sizeof(what), "heir %d", i);
		(void)tell(what, i, "tail");
	}
	_exit(0);
}

static void
idle(const char *file, int calls)
{
	int i;

	for (i = 0; i < calls; i++)
		(void)tell("storm", i, "tail");
	for (i = 0; i < 3; i++)
		if (fork() == 0) {
			wait_for(file);
			_exit(0);
		}
	(void)!write(1, "waits\n", 6);
	while (wait(NULL) > 0)
		;
}

int
main(int argc, char *argv[])
{
	int end[2];
	pid_t pid;
	char c;

	if (argc > 2) {
		idle(argv[1], atoi(argv[2]));
		return (0);
	}
	if (pipe(end) != 0)
		return (1);
	if (fork() == 0) {
		(void)close(end[0]);
		(void)!write(1, "waits\n", 6);
		wait_for(argv[1]);
		pid = getpid();
		if (fork() == 0)
			heir(pid);
		_exit(0);
	}
	(void)close(end[1]);
	/* all of them are gone */
	(void)!read(end[0], &c, 1);
	return (0);
}
