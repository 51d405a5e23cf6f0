/* SPDX-License-Identifier: ISC */
/* A thread more with each SIGUSR1, all of which call; main never does. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

__attribute__((noinline, noclone)) int
beat(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop" : : : "memory");
	return (n * 3 + 1);
}

static void *
run(void *arg)
{
	int i;

	for (i = 0;; i++) {
		if (beat(i) != i * 3 + 1)
			return (arg);
		(void)usleep(10000);
	}
}

int
main(void)
{
	pthread_t thread;
	sigset_t set;
	int signo;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (sigwait(&set, &signo) == 0)
		if (pthread_create(&thread, NULL, run, NULL) != 0)
			return (1);
	return (0);
}
