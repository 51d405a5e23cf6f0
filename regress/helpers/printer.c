/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* Writes many small pieces and ends at once: the last must not get lost. */
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
	int i;

	for (i = 0; i < 200; i++)
		dprintf(STDOUT_FILENO, "line %03d of two hundred\n", i);
	dprintf(STDERR_FILENO, "the end\n");
	return 0;
}
