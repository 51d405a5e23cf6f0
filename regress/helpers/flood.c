/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: flood bytes [bytes-per-second]
 * Writes numbered lines of 16 bytes, so that the bytes at any offset are
 * known.  0 bytes: for ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE	16
#define CHUNK	4096
/* With a rate, so many pieces of it a second. */
#define PIECES	20

/* Whole lines. */
static size_t
piece(unsigned long long rate)
{
	size_t n = (size_t)(rate / PIECES / LINE * LINE);

	if (rate == 0 || n > CHUNK)
		return CHUNK;
	return n == 0 ? LINE : n;
}

static int
put(const char *p, size_t n)
{
	ssize_t w;

	for (; n > 0; p += w, n -= (size_t)w)
		if ((w = write(STDOUT_FILENO, p, n)) == -1)
			return -1;
	return 0;
}

int
main(int argc, char **argv)
{
	unsigned long long total = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	unsigned long long rate = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	unsigned long long done = 0, n;
	char buf[CHUNK + 1];
	struct timespec ts;
	size_t i, most = piece(rate);

	while (total == 0 || done < total) {
		for (i = 0; i < most; i += LINE)
			(void)snprintf(buf + i, LINE + 1, "%015llu\n",
			    (done + i) / LINE % 1000000000000000ULL);
		n = total != 0 && total - done < most ? total - done : most;
		if (put(buf, n) == -1)
			return 1;
		done += n;
		if (rate > 0) {
			n = n * 1000000000ULL / rate;
			ts.tv_sec = (time_t)(n / 1000000000ULL);
			ts.tv_nsec = (long)(n % 1000000000ULL);
			nanosleep(&ts, NULL);
		}
	}
	return 0;
}
