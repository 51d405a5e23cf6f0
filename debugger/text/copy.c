/* SPDX-License-Identifier: ISC */
/* Copies of text. */
#include <string.h>

#include "base/log.h"
#include "copy.h"

char *
copy_text(const char *s)
{
	return s == NULL ? NULL : copy_part(s, strlen(s));
}

char *
copy_part(const char *s, size_t len)
{
	char *copy = strndup(s, len);

	if (copy == NULL)
		fatal("text");
	return copy;
}
