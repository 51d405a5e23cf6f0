/* SPDX-License-Identifier: ISC */
/* Properties of a terminal, and figures in a form that people read. */
#include <sys/ioctl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "term.h"

static bool
window(int fd, struct winsize *ws)
{
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, ws) == 0;
}

size_t
term_width(int fd)
{
	struct winsize ws;

	if (!window(fd, &ws))
		return 0;
	return ws.ws_col > 0 ? ws.ws_col : 80;
}

size_t
term_height(int fd)
{
	struct winsize ws;

	if (!window(fd, &ws))
		return 0;
	return ws.ws_row > 0 ? ws.ws_row : 24;
}

bool
term_colours(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	/* an empty NO_COLOR counts as none: so its convention has it */
	return isatty(fd) && (no == NULL || *no == '\0') && term != NULL &&
	    strcmp(term, "dumb") != 0;
}

const char *
term_colour(enum colour colour)
{
	static const char *const sequences[] = {
		[PLAIN] = "\033[0m", [BOLD] = "\033[1m", [DIM] = "\033[2m",
		[RED] = "\033[31m", [GREEN] = "\033[32m",
		[YELLOW] = "\033[33m", [CYAN] = "\033[36m",
	};

	return sequences[colour];
}

const char *
term_bytes(uint64_t bytes, char buf[TERM_BYTES])
{
	static const char units[] = "KMGTPE";
	double n = (double)bytes;
	int unit = -1;

	/* what would be rounded to 1024 is one of the next unit */
	while (n >= 1023.5 && unit < 5) {
		n /= 1024;
		unit++;
	}
	if (unit == -1)
		snprintf(buf, TERM_BYTES, "%d", (int)bytes);
	else
		snprintf(buf, TERM_BYTES, "%.*f%c", n < 9.95 ? 1 : 0, n,
		    units[unit]);
	return buf;
}

const char *
term_duration(int64_t s, char buf[TERM_BYTES])
{
	static const struct {
		int64_t	below, major, minor;
		char	major_unit, minor_unit;
	} forms[] = {
		{ 3600, 60, 1, 'm', 's' },
		{ 86400, 3600, 60, 'h', 'm' },
		{ INT64_MAX, 86400, 3600, 'd', 'h' },
	};
	size_t i = 0;

	if (s < 60) {
		/* The clocks of two hosts may differ. */
		snprintf(buf, TERM_BYTES, "%ds", s < 0 ? 0 : (int)s);
		return buf;
	}
	while (s >= forms[i].below)
		i++;
	snprintf(buf, TERM_BYTES, "%d%c%02d%c",
	    (int)(s / forms[i].major % 100000), forms[i].major_unit,
	    (int)(s % forms[i].major / forms[i].minor), forms[i].minor_unit);
	return buf;
}
