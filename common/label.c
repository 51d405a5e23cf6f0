/* SPDX-License-Identifier: ISC */
/* Labels go into command lines, addresses and file names without quotes. */
#include <stdio.h>
#include <string.h>

#include "label.h"
#include "proto.h"
#include "utc.h"

/* As few characters of an id may stand for it. */
#define PREFIX_MIN	4

static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";

static bool
is_one_of(char c, const char *others)
{
	return (c >= '0' && c <= '9') || (c != '\0' && strchr(others, c));
}

bool
label_is_good(const char *label, size_t len)
{
	bool like_an_id = len >= PREFIX_MIN;
	size_t i;

	if (len > LABEL_MAX)
		return false;
	for (i = 0; i < len; i++) {
		if (!is_one_of(label[i], letters))
			return false;
		like_an_id &= is_one_of(label[i], "abcdefABCDEF-");
	}
	/* it would hide the session that has such an id */
	return !like_an_id;
}

void
label_for_program(const char *path, time_t when, char *label)
{
	/* room for the time, and for "-9999" behind it */
	const int most = LABEL_MAX - 17 - 5;
	const char *slash = strrchr(path, '/');
	char utc[UTC_TEXT], *p;

	if (slash != NULL)
		path = slash + 1;
	(void)utc_text(when, utc);
	(void)snprintf(label, LABEL_MAX + 1, "%.*s-%.10s-%.2sh%.2s", most,
	    *path == '\0' ? "program" : path, utc, utc + 11, utc + 14);
	for (p = label; *p != '\0'; p++)
		if (!is_one_of(*p, letters))
			*p = '_';
}
