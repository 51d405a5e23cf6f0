/* SPDX-License-Identifier: ISC */
/* Threads that come, call and go. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS	8
#define ROUNDS	5

static int calls;

__attribute__((noinline, noclone)) long
each(long id, long i)
{
	__asm__ volatile("" : : : "memory");
	return (id * 1000000 + i);
}

static void *
run(void *arg)
{
	long id = (long)arg, i, sum = 0;

	for (i = 0; i < calls; i++)
		sum += each(id, i) - id * 1000000;
	return ((void *)sum);
}

int
main(int argc, char *argv[])
{
	pthread_t t[THREADS];
	long sum = 0;
	void *r;
	int i, k;

	calls = argc > 1 ? atoi(argv[1]) : 1000;
	for (k = 0; k < ROUNDS; k++) {
		for (i = 0; i < THREADS; i++)
			if (pthread_create(&t[i], NULL, run,
			    (void *)(long)(k * THREADS + i)) != 0)
				return (1);
		for (i = 0; i < THREADS; i++) {
			(void)pthread_join(t[i], &r);
			sum += (long)r;
		}
	}
	printf("%ld\n", sum);
	return (0);
}
