/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* usage: family n: n children that wait, the parent too; then "ready". */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 3;

	for (i = 0; i < n; i++)
		if (fork() == 0)
			for (;;)
				pause();
	dprintf(STDOUT_FILENO, "ready\n");
	for (;;)
		pause();
}
