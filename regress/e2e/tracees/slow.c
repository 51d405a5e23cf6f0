/* SPDX-License-Identifier: ISC */
/* Calls for as long as it is let: slow.c [MICROSECONDS between calls] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

__attribute__((noinline, noclone)) int
beat(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n * 3 + 1);
}

__attribute__((noinline, noclone)) int
other(int n)
{
	__asm__ volatile("" : : : "memory");
	return (n * 5 + 2);
}

/* open for all of its life */
__attribute__((noinline, noclone)) int
outer(int wait)
{
	int i, bad = 0;

	for (i = 0; !stop; i++) {
		bad += beat(i & 0xff) != (i & 0xff) * 3 + 1;
		bad += other(i & 0xff) != (i & 0xff) * 5 + 2;
		if (wait > 0)
			(void)usleep((useconds_t)wait);
	}
	return (bad);
}

static void
end(int signo)
{
	(void)signo;
	stop = 1;
}

int
main(int argc, char *argv[])
{
	int bad;

	(void)signal(SIGTERM, end);
	bad = outer(argc > 1 ? atoi(argv[1]) : 1000);
	printf("bad %d\n", bad);
	return (bad != 0);
}
