/* SPDX-License-Identifier: ISC */
/*
 * Calls with values of every kind: watched ROUNDS [SLEEP_US], without end if
 * ROUNDS is negative.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART	__attribute__((noinline, noclone))

struct point { int x, y; const char *name; };
enum color { RED, GREEN, BLUE };

static inline __attribute__((always_inline)) int
tiny(int a)
{
	return (a * 3);
}

APART const char *
name_of(enum color c)
{
	return (c == RED ? "red" : c == GREEN ? "green" : NULL);
}

APART double
scale(double v, float by)
{
	__asm__ volatile("" : : : "memory");
	return (v * (double)by);
}

APART struct point
make_point(int x, const char *name)
{
	struct point p = { x, x + 1, name };

	__asm__ volatile("" : : : "memory");
	return (p);
}

APART int
validate(const char *s)
{
	__asm__ volatile("" : : : "memory");
	return (strlen(s) > 3);
}

int
main(int argc, char *argv[])
{
	int n = argc > 1 ? atoi(argv[1]) : 3, i;
	unsigned int us = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	const char *name;
	struct point p;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; n < 0 || i < n; i++) {
		p = make_point(i, "pt");
		name = name_of((enum color)(i % 3));
		printf("%d %s %g %d %d\n", p.y, name == NULL ? "-" : name,
		    scale(i, 0.5F), validate("abcd"), tiny(i));
		if (us != 0)
			usleep(us);
	}
	fprintf(stderr, "done\n");
	return (7);
}
