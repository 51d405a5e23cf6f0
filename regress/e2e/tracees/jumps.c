/* SPDX-License-Identifier: ISC */
/* Control flow that does not come back the way it went: longjmp, signal
 * handlers, other stacks, functions that return twice. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))

static jmp_buf env;
static volatile int handled;
static ucontext_t main_context, other_context;
static char other_stack[65536];

APART int
down(int n)
{
	if (n == 0)
		longjmp(env, 1);
	return (down(n - 1) + 1);
}

APART int
jumper(int n)
{
	if (setjmp(env) != 0)
		return (n);
	return (down(n));
}

APART int
in_handler(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n + 1);
}

APART void
handler(int signo)
{
	handled += in_handler(signo) - signo;
}

APART long
work(long n)
{
	__asm__ volatile("" : : : "memory");
	return (n & 1);
}

APART int
step(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n);
}

/* leaves in the middle of a call, and comes back to it */
APART int
yield(int n)
{
	int r = step(n);

	if (swapcontext(&other_context, &main_context) != 0)
		abort();
	return (r + step(n));
}

APART void
other(void)
{
	int i;

	for (i = 0;; i++)
		(void)yield(i);
}

static int
contexts(void)
{
	static int i, n;

	(void)getcontext(&other_context);
	other_context.uc_stack.ss_sp = other_stack;
	other_context.uc_stack.ss_size = sizeof(other_stack);
	other_context.uc_link = NULL;
	makecontext(&other_context, other, 0);
	for (i = 0; i < 50; i++) {
		n += jumper(2);
		if (swapcontext(&main_context, &other_context) != 0)
			abort();
		n += step(1);
	}
	return (n);
}

int
main(int argc, char *argv[])
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } };
	static long i, sum;
	static int n;
	pid_t pid;

	(void)signal(SIGALRM, handler);
	for (i = 0; i < 3000; i++)
		n += jumper((int)i % 7);
	n += contexts();
	(void)setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; handled < 200; i++)
		sum += work(i);
	often.it_value.tv_usec = often.it_interval.tv_usec = 0;
	(void)setitimer(ITIMER_REAL, &often, NULL);
	pid = vfork();
	if (pid == 0)
		_exit(step(3));
	printf("%d %d\n", n, sum >= 0);
	(void)argc;
	(void)argv;
	return (0);
}
