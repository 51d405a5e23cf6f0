/* SPDX-License-Identifier: ISC */
/* Stacks that are walked or left in C: threads that end in the middle or are
 * cancelled, backtraces, handlers on a stack of their own that jump away. */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))
#define JUMPS	300

static int cleaned;
static volatile int handled;
static sigjmp_buf env;
static char other_stack[65536];

static void
clean(void *arg)
{
	cleaned += *(int *)arg;
}

APART int
inner(int wait)
{
	__asm__ volatile("" : : : "memory");
	if (!wait)
		pthread_exit(NULL);
	for (;;)
		(void)sleep(1);
}

APART int
middle(int wait)
{
	int n = wait + 1;

	pthread_cleanup_push(clean, &n);
	n += inner(wait);
	pthread_cleanup_pop(0);
	return (n);
}

APART void *
run(void *arg)
{
	int n = 10;

	pthread_cleanup_push(clean, &n);
	n += middle(arg != NULL);
	pthread_cleanup_pop(0);
	return (NULL);
}

APART int
walk(int n)
{
	void *frames[64];
	int k;

	k = n > 0 ? walk(n - 1) : backtrace(frames, 64);
	__asm__ volatile("" : : : "memory");
	return (k);
}

APART void
handler(int signo)
{
	(void)signo;
	handled++;
	siglongjmp(env, 1);
}

APART int
spin(void)
{
	for (;;)
		__asm__ volatile("" : : : "memory");
}

APART int
down(int n)
{
	int r = n > 0 ? down(n - 1) + 1 : spin();

	__asm__ volatile("" : : : "memory");
	return (r);
}

static void
threads(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 10; i++) {
		if (pthread_create(&t, NULL, run, i < 5 ? NULL : &t) != 0)
			abort();
		if (i >= 5) {
			(void)usleep(10000);
			(void)pthread_cancel(t);
		}
		(void)pthread_join(t, NULL);
	}
	printf("%d\n", cleaned);
}

int
main(void)
{
	stack_t ss = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };
	struct sigaction sa;
	static int i;

	threads();
	i = walk(3);
	printf("%d %d\n", walk(5) - i, walk(10) - i);
	(void)sigaltstack(&ss, NULL);
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = SA_ONSTACK | SA_NODEFER;
	(void)sigaction(SIGALRM, &sa, NULL);
	for (i = 0; i < JUMPS; i++)
		if (sigsetjmp(env, 1) == 0) {
			(void)ualarm(300, 0);
			(void)down(5);
		}
	printf("%d\n", handled);
	return (0);
}
