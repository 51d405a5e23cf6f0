/* SPDX-License-Identifier: ISC */
/*
 * Threads that make children at the same time: swarm COUNT, of each.  Says how
 * many children did not end well.
 */
#include <sys/wait.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS	4
#define CALLS	40
#define APART	__attribute__((noinline, noclone))

static atomic_int bad;

APART int
inherit(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 1);
}

static void *
breed(void *arg)
{
	int i, k, status, n = (int)(intptr_t)arg;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (pid == 0) {
			for (k = 0; k < CALLS; k++) {
				(void)inherit(k);
				(void)usleep(1000);
			}
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			bad++;
	}
	return (NULL);
}

int
main(int argc, char *argv[])
{
	intptr_t n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, breed, (void *)n) != 0)
			return (1);
	for (i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	(void)printf("bad %d\n", bad);
	return (0);
}
