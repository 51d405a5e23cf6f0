/* SPDX-License-Identifier: ISC */
/* Ends as it is told: by a signal of its own making, or by too much output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *nowhere;

int
main(int argc, char **argv)
{
	static char piece[1 << 16];
	int i;

	if (argc > 1 && strcmp(argv[1], "segv") == 0)
		*nowhere = 1;
	if (argc > 1 && strcmp(argv[1], "abort") == 0)
		abort();
	memset(piece, 'x', sizeof(piece));
	for (i = 0; argc > 1 && strcmp(argv[1], "flood") == 0 && i < 1600; i++)
		fwrite(piece, 1, sizeof(piece), stdout);
	return 0;
}
