/* SPDX-License-Identifier: ISC */
/* A program to be looked at: structures, arrays, calls, threads, crashes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inner {
	int	 a;
	double	 d;
	const char *s;
};

struct outer {
	struct inner in;
	int	 numbers[300];
	struct inner *p;
};

int	counter;

static int
add(int a, int b)
{
	int sum = a + b;

	counter += sum;		/* in add */
	return sum;
}

static int
down(int n)
{
	if (n == 0)
		return counter;	/* at the bottom */
	return down(n - 1) + 1;
}

static void *
worker(void *arg)
{
	pthread_barrier_t *both = arg;

	pthread_barrier_wait(both);
	pthread_barrier_wait(both);
	return NULL;
}

static void
in_threads(void)
{
	pthread_barrier_t both;
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, worker, &both);
	pthread_barrier_wait(&both);
	counter++;		/* beside a worker */
	pthread_barrier_wait(&both);
	pthread_join(t, NULL);
}

int
main(int argc, char *argv[])
{
	struct outer o = { .in = { 1, 2.5, "hello" } };
	int i, total = 0;

	o.p = &o.in;
	for (i = 0; i < 10; i++) {
		total = add(total, i);	/* the loop */
		o.numbers[i] = total;
	}
	printf("total %d\n", total);
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "segv") == 0)
		*(volatile int *)0 = 1;	/* the crash */
	if (argc > 1 && strcmp(argv[1], "abort") == 0)
		abort();	/* the abort */
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		in_threads();
	if (argc > 1 && strcmp(argv[1], "deep") == 0)
		total += down(60);
	return o.p->a + total == 46 ? 7 : 1;
}
