/* A library of functions that gcc splits, with an end that is rarely reached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sum;

static __attribute__((noinline, cold)) void
fail(const char *why, int n)
{
	fprintf(stderr, "%s %d\n", why, n);
	abort();
}

__attribute__((noinline)) void
few(int n)
{
	char text[64];
	int i;

	if (n > 1000)
		fail("few", n);
	for (i = 0; i < n; i++)
		text[i % 64] = (char)(i ^ sum);
	sum += text[n % 2] + n;
	if (n > 900)
		fail("few again", sum);
}

__attribute__((noinline)) void
many(int n, int a)
{
	char text[256];

	memset(text, a, sizeof(text));
	if (n > 1000)
		fail("many", n + a);
	text[n % 256] = (char)sum;
	sum += text[a % 256] + text[n % 256];
	if (a > 1000)
		fail("many again", sum + text[0]);
}

int
work(int n)
{
	int i;

	for (i = 2 * n; i < 2 * n + 2; i++) {
		few(i);
		many(i, i);
	}
	if (sum > 1000000)
		fail("work", sum);
	return sum;
}
