/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* usage: twostreams n: "oN" to stdout and "eN" to stderr in turn, n times. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 3;

	for (i = 0; i < n; i++) {
		dprintf(STDOUT_FILENO, "o%d\n", i);
		dprintf(STDERR_FILENO, "e%d\n", i);
	}
	return 0;
}
