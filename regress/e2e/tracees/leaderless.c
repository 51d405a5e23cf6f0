/* SPDX-License-Identifier: ISC */
/* Its first thread ends, the other one goes on: leaderless ROUNDS. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))

APART int
one(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 1);
}

APART int
other(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 2);
}

static void *
run(void *arg)
{
	int i, n = *(const int *)arg;

	for (i = 0; i < n; i++) {
		(void)one(i);
		(void)other(i);
		usleep(10000);
	}
	_exit(3);
}

int
main(int argc, char *argv[])
{
	static int n;
	pthread_t t;

	n = argc > 1 ? atoi(argv[1]) : 100;
	if (pthread_create(&t, NULL, run, &n) != 0)
		return (1);
	pthread_exit(NULL);
}
