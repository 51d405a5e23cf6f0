/* SPDX-License-Identifier: ISC */
/* Ends by a null pointer, some calls deep. */
#include <stdio.h>

__attribute__((noinline, noclone)) int
deep(const int *p, int n)
{
	int r;

	if (n == 0)
		return (*p);
	r = deep(p, n - 1);
	__asm__ volatile("" : "+r"(r));
	return (r + 1);
}

int
main(void)
{
	puts("before");
	fflush(stdout);
	return (deep(NULL, 3));
}
