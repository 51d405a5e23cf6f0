/* SPDX-License-Identifier: ISC */
/*
 * The program of sessions under load: fills the ring of its output, so that no
 * page of the ring is new later, then prints a line again and again.
 * usage: chatter BYTES MS LINES (0 lines: for ever)
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void
put(const char *p, size_t len)
{
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n)
		if ((n = write(STDOUT_FILENO, p, len)) == -1)
			err(1, "write");
}

int
main(int argc, char **argv)
{
	static char line[101];
	struct timespec gap;
	long i, left, lines, ms;

	if (argc != 4)
		errx(2, "usage: chatter BYTES MS LINES");
	left = atol(argv[1]);
	ms = atol(argv[2]);
	lines = atol(argv[3]);
	memset(line, '.', sizeof(line) - 1);
	line[sizeof(line) - 2] = '\n';
	for (; left > 0; left -= (long)sizeof(line) - 1)
		put(line, sizeof(line) - 1);
	gap.tv_sec = ms / 1000;
	gap.tv_nsec = ms % 1000 * 1000000;
	for (i = 0; lines == 0 || i < lines; i++) {
		(void)snprintf(line, sizeof(line), "%099ld\n", i);
		put(line, sizeof(line) - 1);
		(void)nanosleep(&gap, NULL);
	}
	return 0;
}
