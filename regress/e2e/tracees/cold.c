/* SPDX-License-Identifier: ISC */
/*
 * Functions whose names look like those of parts that compilers put aside: two
 * are such parts and are jumped to, with the stack as a call leaves it, the
 * others are functions like any.
 */
#include <stdio.h>

#define APART __attribute__((noinline, noclone))

APART int	 aside(int) __asm__("split.cold");
APART int	 numbered(int) __asm__("split.cold.3");
APART int	 coldest(int) __asm__("is.coldest");
APART int	 underlined(int) __asm__("is.cold_1");
APART int	 cold_start(int);
APART int	 split(int);

APART int
aside(int n)
{
	return printf("%d is below 0\n", n);
}

APART int
numbered(int n)
{
	return printf("%d is above 1\n", n);
}

APART int
split(int n)
{
	if (n < 0)
		return aside(n);
	if (n > 1)
		return numbered(n);
	return puts("neither");
}

APART int
coldest(int n)
{
	return printf("coldest %d\n", n);
}

APART int
underlined(int n)
{
	return printf("underlined %d\n", n);
}

APART int
cold_start(int n)
{
	return printf("start %d\n", n);
}

int
main(void)
{
	int n, sum = 0;

	for (n = -2; n < 4; n++)
		sum += split(n) + coldest(n) + underlined(n) + cold_start(n);
	printf("%d\n", sum);
	return 0;
}
