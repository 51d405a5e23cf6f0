/* SPDX-License-Identifier: ISC */
/*
 * Children that live on: scions COUNT, some milliseconds one after the other.
 * The last one falls.
 */
#include <sys/wait.h>

#include <stdlib.h>
#include <unistd.h>

#define ROUNDS	150
#define APART	__attribute__((noinline, noclone))

APART int
inherit(int n)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (n + 1);
}

APART int
fall(volatile const int *p)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop");
	return (*p + 1);
}

static void
live(int k)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		(void)inherit(k);
		usleep(20000);
	}
}

int
main(int argc, char *argv[])
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;

	usleep(200000);
	for (i = 0; i < n; i++) {
		if (fork() == 0) {
			if (i == n - 1)
				_exit(fall((const int *)8));
			live(i);
			_exit(0);
		}
		usleep(20000);
	}
	while (wait(NULL) > 0)
		;
	return (0);
}
