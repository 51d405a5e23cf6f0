/* SPDX-License-Identifier: ISC */
/* Threads that are given names, one by itself, one by another. */
#include <pthread.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int
work(int who)
{
	__asm__ volatile("" : : : "memory");
	return (who * 1000003 + 7);
}

static void *
run(void *arg)
{
	int who = (int)(long)arg;

	if (who == 1)
		(void)pthread_setname_np(pthread_self(), "by itself");
	for (;;) {
		(void)work(who);
		(void)usleep(20000);
	}
	return (NULL);
}

int
main(void)
{
	pthread_t t[2];
	long i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, (void *)(i + 1)) != 0)
			return (1);
	(void)pthread_setname_np(t[1], "by another");
	(void)run((void *)3);
	return (0);
}
