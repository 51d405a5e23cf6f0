/* SPDX-License-Identifier: ISC */
/* Goes on until it is told to end: by a line, or by somebody's signal. */
#include <stdio.h>
#include <string.h>

int
main(void)
{
	char line[80];

	puts("here");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		if (strcmp(line, "end\n") == 0)
			return 7;
	return 8;
}
