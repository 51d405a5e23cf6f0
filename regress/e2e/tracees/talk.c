/* SPDX-License-Identifier: ISC */
/*
 * Calls with values of many types, and says something now and then, for as
 * long as it is let: talk.c.  SIGUSR1 makes it crash, SIGTERM ends it with 3.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum mood { GLAD = 1, SAD = 4 };

struct point {
	int	 x, y;
	const char *name;
};

static volatile sig_atomic_t stop, crash;

__attribute__((noinline, noclone)) const char *
greet(const char *who, enum mood mood, double weight, int n)
{
	__asm__ volatile("" : : : "memory");
	return (n % 2 == 0 || mood == SAD || weight < 0 ? NULL : who);
}

__attribute__((noinline, noclone)) struct point
move(struct point p, _Bool far, unsigned char step)
{
	__asm__ volatile("" : : : "memory");
	p.x += far ? step : 1;
	return (p);
}

__attribute__((noinline, noclone)) void
fall(int *nowhere)
{
	__asm__ volatile("" : "+r" (nowhere));
	*nowhere = 1;
}

__attribute__((noinline, noclone)) int
turn(int n)
{
	struct point p = { n, -n, "p\u00f6int \"1\"" };

	(void)greet(n % 3 == 0 ? "w\u00f6rld" : "moon\n\033[1m", n % 5 == 0 ?
	    SAD : GLAD, n / 4.0, n);
	p = move(p, n % 2 == 0, 200);
	if (n % 50 == 0) {
		printf("turn %d\n", n);
		fflush(stdout);
		fprintf(stderr, "at %d\n", p.x);
	}
	return (p.x % 7);
}

static void
end(int signo)
{
	if (signo == SIGUSR1)
		crash = 1;
	stop = 1;
}

int
main(void)
{
	int n;

	(void)signal(SIGTERM, end);
	(void)signal(SIGUSR1, end);
	for (n = 0; !stop; n++) {
		(void)turn(n);
		(void)usleep(2000);
	}
	if (crash)
		fall(NULL);
	return (3);
}
