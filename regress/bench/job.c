/* SPDX-License-Identifier: ISC */
/*
 * Programs that sessions run during measurements.
 * usage: job flood BYTES	as fast as the reader takes it
 *        job pace LINES MS	LINES lines of 100 bytes, evenly over MS ms
 *        job stubborn		sleeps, and SIGTERM does not end it
 *        job sleep		sleeps
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void
put(const char *p, size_t len)
{
	ssize_t n;

	while (len > 0) {
		if ((n = write(STDOUT_FILENO, p, len)) == -1)
			err(1, "write");
		p += n;
		len -= (size_t)n;
	}
}

static void
flood(char **argv)
{
	static char buf[64 * 1024];
	size_t n, left = strtoul(argv[0], NULL, 10);

	memset(buf, 'x', sizeof(buf));
	for (; left > 0; left -= n) {
		n = left < sizeof(buf) ? left : sizeof(buf);
		put(buf, n);
	}
}

/* Against the clock, not by sleeps in between: those add up. */
static void
pace(char **argv)
{
	long lines = atol(argv[0]), ms = atol(argv[1]), i, due;
	struct timespec at;
	char line[101];

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (i = 0; i < lines; i++) {
		(void)snprintf(line, sizeof(line), "%099ld\n", i);
		put(line, 100);
		due = (i + 1) * ms / lines - i * ms / lines;
		if (due == 0)
			continue;
		at.tv_nsec += due * 1000000;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
}

static void
stubborn(char **argv)
{
	(void)argv;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		pause();
}

static void
sleeper(char **argv)
{
	(void)argv;
	for (;;)
		pause();
}

static const struct {
	const char	*name;
	int		 args;
	void		(*run)(char **);
} jobs[] = {
	{ "flood", 1, flood },
	{ "pace", 2, pace },
	{ "stubborn", 0, stubborn },
	{ "sleep", 0, sleeper },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		if (argc > 1 && strcmp(argv[1], jobs[i].name) == 0 &&
		    argc == jobs[i].args + 2) {
			jobs[i].run(argv + 2);
			return 0;
		}
	errx(2, "usage: job flood BYTES | pace LINES MS | stubborn | sleep");
}
