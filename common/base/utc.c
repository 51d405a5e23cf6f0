/* SPDX-License-Identifier: ISC */
/* Times for people. */
#include <stdio.h>
#include <string.h>

#include "utc.h"

static void
format(time_t when, char text[UTC_TEXT])
{
	struct tm tm;

	/* what no calendar has is written as zeros */
	if (gmtime_r(&when, &tm) == NULL)
		memset(&tm, 0, sizeof(tm));
	/* strftime() would look for the time zone's file */
	(void)snprintf(text, UTC_TEXT, "%04u-%02u-%02uT%02u:%02u:%02uZ",
	    (unsigned int)(tm.tm_year + 1900) % 10000,
	    (unsigned int)(tm.tm_mon + 1) % 100, (unsigned int)tm.tm_mday % 100,
	    (unsigned int)tm.tm_hour % 100, (unsigned int)tm.tm_min % 100,
	    (unsigned int)tm.tm_sec % 100);
}

char *
utc_text(time_t when, char text[UTC_TEXT])
{
	/* a busy second has thousands of lines, and each tells its time */
	static char last[UTC_TEXT];
	static time_t last_when;

	if (last[0] == '\0' || when != last_when) {
		format(when, last);
		last_when = when;
	}
	return memcpy(text, last, UTC_TEXT);
}
