/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* Copies its input to its output; says "[eof]" at the end. */
#include <unistd.h>

int
main(void)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0)
		if (write(STDOUT_FILENO, buf, (size_t)n) != n)
			return 1;
	if (n == -1)
		return 2;
	return write(STDOUT_FILENO, "[eof]", 5) == 5 ? 0 : 1;
}
