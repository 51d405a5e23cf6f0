/* SPDX-License-Identifier: ISC */
/*
 * Functions that look at return addresses: their own, their caller's, and all
 * along frame pointers.  It says whose code each of them is in.
 */
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))
#define MOST 8

extern char __executable_start, etext;
static void *seen[MOST];

static const char *
where(const void *p)
{
	const char *c = p;

	return (c >= &__executable_start && c < &etext ? "program" : "other");
}

static APART int
walk(void **out, int n)
{
	void **fp = __builtin_frame_address(0), **next;
	int i;

	for (i = 0; i < n && fp != NULL; i++, fp = next) {
		out[i] = fp[1];
		next = fp[0];
		if (next <= fp)
			break;
	}
	return (i);
}

static APART void *
own(int n)
{
	/* behind a branch, and behind calls */
	if (n > 100)
		return (NULL);
	printf("%d\n", n);
	if (n == 0)
		puts("none");
	return (__builtin_return_address(0));
}

static APART void *
callers(void)
{
	return (__builtin_return_address(1));
}

static APART void *
above(void **fp)
{
	return (fp[1]);
}

static APART void *
passes(void)
{
	void *p = above(__builtin_frame_address(0));

	__asm__ volatile("" : : : "memory");
	return (p);
}

static APART void *
calls_callers(void)
{
	void *p = callers();

	__asm__ volatile("" : : : "memory");
	return (p);
}

static APART int
second(int n)
{
	int r = walk(seen, 3) + n;

	__asm__ volatile("" : : : "memory");
	return (r);
}

static APART int
first(int n)
{
	int r = second(n) + 1;

	__asm__ volatile("" : : : "memory");
	return (r);
}

int
main(int argc, char **argv)
{
	int i, n, round;

	(void)argv;
	if (argc > 1)
		(void)getchar();

	for (round = 0; round < 3; round++) {
		memset(seen, 0, sizeof(seen));
		n = first(round);
		printf("%d\n", n);
		for (i = 0; i < 3; i++)
			puts(where(seen[i]));
		puts(where(own(round)));
		puts(where(calls_callers()));
		puts(where(passes()));
	}
	return (0);
}
