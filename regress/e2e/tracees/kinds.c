/* SPDX-License-Identifier: ISC */
/* Functions that can be traced, and some that cannot.  kinds.c HOW [N]:
 * on       round after round until SIGTERM, N microseconds apart
 * held     the same, but a process of its own traces it until that is killed
 * storm    N calls between two lines of output, then a crash */
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))

static volatile sig_atomic_t stop;

APART int
beat(int n, const char *what)
{
	__asm__ volatile("" : : "r"(what) : "memory");
	return (n * 3 + 1);
}

/* its first instruction is jumped to for each round */
__attribute__((naked)) int
rounds(int n)
{
	__asm__("1: dec %edi\n\tjnz 1b\n\tmov %edi, %eax\n\tret");
}

/* no room for a jump, and the next function right behind it */
__attribute__((naked)) void
brief(void)
{
	__asm__("ret");
}

__attribute__((naked)) int
behind(void)
{
	__asm__("mov $7, %eax\n\tret");
}

static void
end(int signo)
{
	(void)signo;
	stop = 1;
}

static int
on(unsigned int us)
{
	int i, bad = 0;

	for (i = 0; !stop; i++) {
		bad += beat(i & 0xff, "on") != (i & 0xff) * 3 + 1;
		bad += rounds(3) != 0;
		brief();
		bad += behind() != 7;
		(void)usleep(us);
	}
	return (bad);
}

/* A tracer that is there first. */
static void
hold(void)
{
	pid_t parent = getpid();
	int ready[2];
	char c = 'x';

	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (pipe(ready) == -1)
		exit(2);
	if (fork() == 0) {
		if (ptrace(PTRACE_SEIZE, parent, NULL, NULL) == -1)
			c = '!';
		(void)!write(ready[1], &c, 1);
		for (;;)
			(void)pause();
	}
	if (read(ready[0], &c, 1) != 1 || c != 'x')
		exit(3);
}

static void
storm(int n)
{
	int i;

	puts("before");
	for (i = 0; i < n; i++)
		(void)beat(i, "storm");
	puts("after");
	*(volatile int *)0x1234 = 1;
}

int
main(int argc, char *argv[])
{
	const char *how = argc > 1 ? argv[1] : "on";
	int n = argc > 2 ? atoi(argv[2]) : 1000, bad;

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	(void)signal(SIGTERM, end);
	(void)signal(SIGCHLD, SIG_IGN);
	if (strcmp(how, "storm") == 0)
		storm(n);
	if (strcmp(how, "held") == 0)
		hold();
	puts("ready");
	bad = on((unsigned int)n);
	printf("bad %d\n", bad);
	return (bad != 0);
}
