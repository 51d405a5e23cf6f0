/* SPDX-License-Identifier: ISC */
/* Times for people. */
#include <stdio.h>
#include <string.h>

#include "utc.h"

void
utc_text(time_t when, char text[UTC_TEXT])
{
	struct tm tm;

	memset(&tm, 0, sizeof(tm));
	/* strftime() would look for the time zone's file */
	(void)gmtime_r(&when, &tm);
	(void)snprintf(text, UTC_TEXT, "%04u-%02u-%02uT%02u:%02u:%02uZ",
	    (unsigned int)(tm.tm_year + 1900) % 10000,
	    (unsigned int)(tm.tm_mon + 1) % 100, (unsigned int)tm.tm_mday % 100,
	    (unsigned int)tm.tm_hour % 100, (unsigned int)tm.tm_min % 100,
	    (unsigned int)tm.tm_sec % 100);
}
