/* SPDX-License-Identifier: ISC */
/* Labels go into command lines, addresses and file names without quotes. */
#include <string.h>

#include "label.h"
#include "proto.h"

/* As few characters of an id may stand for it. */
#define PREFIX_MIN	4

static bool
is_one_of(char c, const char *others)
{
	return (c >= '0' && c <= '9') || (c != '\0' && strchr(others, c));
}

bool
label_is_good(const char *label, size_t len)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
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
