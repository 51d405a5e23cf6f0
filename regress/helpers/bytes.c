/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: bytes hex ...
 * Writes the bytes of each argument at once and waits for a byte or the end
 * of the input before the next; "all" stands for the 256 values of a byte.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	unsigned char buf[4096];
	unsigned int v;
	size_t n;
	int i;

	for (i = 1; i < argc; i++) {
		n = 0;
		if (strcmp(argv[i], "all") == 0)
			for (; n < 256; n++)
				buf[n] = (unsigned char)n;
		else
			for (; n < sizeof(buf) && argv[i][2 * n] != '\0' &&
			    sscanf(argv[i] + 2 * n, "%2x", &v) == 1; n++)
				buf[n] = (unsigned char)v;
		if (write(STDOUT_FILENO, buf, n) != (ssize_t)n)
			return 1;
		if (i + 1 < argc && read(STDIN_FILENO, buf, 1) == -1)
			return 1;
	}
	return 0;
}
