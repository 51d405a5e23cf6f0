/* SPDX-License-Identifier: ISC */
/* Variables as optimised code keeps them; it prints them when it goes on. */
#include <stdio.h>
#include <stdlib.h>
enum color { RED, GREEN = 5, BLUE };
struct bits {
	unsigned a : 3;
	int b : 4;
};
__attribute__((noinline)) int
sink(int n)
{
	return n * 3;
}
__attribute__((noinline)) int
work(int n, double d, enum color col, struct bits bb, char *text, _Bool flag)
{
	int k = 42, dead = n * 7;
	int i, sum = 0;
	char buf[10] = "hey";
	__int128 big = n;
	for (i = 0; i < n; i++) {
		sum += sink(i + k); /* the stop */
		big += sum;
		buf[0] ^= i;
	}
	printf("%d %d %g %d %d %d %c %d %d %s\n", n, sum, d, col, bb.a, bb.b,
	    text[0], flag, (int)big, buf);
	printf("%d\n", k + dead);
	return sum;
}
int
main(int argc, char **argv)
{
	struct bits b = {1, -2};
	return work(argc + 5, argc * 1.5, argc == 1 ? GREEN : RED, b,
		   argv[0], argc == 1) == 7;
}
