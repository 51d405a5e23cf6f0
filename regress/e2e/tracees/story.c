/* SPDX-License-Identifier: ISC */
/* Calls within calls, with values of some kinds; as often and as slowly as
 * the arguments say. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

struct sum {
	int	 n;
	double	 total;
};

APART const char *
name_of(int i)
{
	return i % 2 == 0 ? NULL : "gr\xc3\xb6\xc3\x9f" "e";
}

APART int
step(int i, const char *what)
{
	return i * 2 + (what == NULL);
}

APART struct sum
work(int i)
{
	struct sum s = { i, 0 };

	s.total += step(i, name_of(i));
	s.total += step(i, "\xe6\x95\xb0");
	return s;
}

int
main(int argc, char *argv[])
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	unsigned int ms = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	for (i = 0; i < n; i++) {
		printf("round %d: %g\n", i, work(i).total);
		usleep(ms * 1000);
	}
	fputs("done\n", stderr);
	return 3;
}
