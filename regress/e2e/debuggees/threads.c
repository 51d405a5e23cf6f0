/* SPDX-License-Identifier: ISC */
/* Four threads that wait for each other, and then for nothing. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static pthread_barrier_t barrier;

static void *
work(void *arg)
{
	intptr_t number = (intptr_t)arg;

	pthread_barrier_wait(&barrier);
	printf("thread %ld\n", (long)number);
	return NULL;
}

int
main(void)
{
	pthread_t threads[3];
	intptr_t i;

	pthread_barrier_init(&barrier, NULL, 4);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
