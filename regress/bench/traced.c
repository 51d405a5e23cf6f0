/* SPDX-License-Identifier: ISC */
/*
 * Measures the cost of a traced call: traced HOW BURSTS CALLS prints the
 * nanoseconds of processor time per call, one line per burst.  Between bursts
 * it sleeps, so that the reader of the records can keep up.
 *
 *	int	two integer arguments, an integer result
 *	string	one argument, a string of 16 bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))
#define REST_US	20000

static APART int
integers(int a, int b)
{
	__asm__ volatile("" : : : "memory");
	return (a + b * 3);
}

static APART int
string(const char *s)
{
	__asm__ volatile("" : : "r"(s) : "memory");
	return (s[0] + s[1]);
}

static double
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec * 1e9 + (double)ts.tv_nsec);
}

int
main(int argc, char *argv[])
{
	static const char text[] = "0123456789abcdef";
	int bursts = argc > 2 ? atoi(argv[2]) : 10, i, k;
	int calls = argc > 3 ? atoi(argv[3]) : 10000;
	long sum = 0;
	double began;

	for (k = 0; k < bursts; k++) {
		(void)usleep(REST_US);
		began = now();
		if (argc > 1 && strcmp(argv[1], "string") == 0)
			for (i = 0; i < calls; i++)
				sum += string(text);
		else
			for (i = 0; i < calls; i++)
				sum += integers(i, k);
		printf("%.2f\n", (now() - began) / calls);
	}
	return (sum == 42);
}
