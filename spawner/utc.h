/* SPDX-License-Identifier: ISC */
/* Times for people, without the time zone's file. */
#ifndef SPAWNER_UTC_H
#define SPAWNER_UTC_H

#include <time.h>

#define UTC_TEXT	32

/* RFC 3339 in UTC, whole seconds. */
void	utc_text(time_t, char text[UTC_TEXT]);

#endif
