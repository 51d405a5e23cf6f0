/* SPDX-License-Identifier: ISC */
/* Times for people, without the time zone's file. */
#ifndef DL_UTC_H
#define DL_UTC_H

#include <time.h>

#define UTC_TEXT	21

/* RFC 3339 in UTC, whole seconds.  Returns text. */
char	*utc_text(time_t, char text[UTC_TEXT]);

#endif
