/* SPDX-License-Identifier: ISC */
/* Prints its arguments, or "Hello world"; exits with $STATUS. */
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	const char *status = getenv("STATUS");
	int i;

	if (argc < 2)
		puts("Hello world");
	for (i = 1; i < argc; i++)
		printf("[%s]%s", argv[i], i + 1 < argc ? " " : "\n");
	return status == NULL ? 0 : atoi(status);
}
