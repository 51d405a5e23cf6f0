/* SPDX-License-Identifier: ISC */
/*
 * Settings that only a restart changes: a running process cannot get its
 * users, places and isolation again.  The parent keeps them as text, which it
 * hands back at a reload and does not read.
 */
#include <string.h>

#include "conf_table.h"

bool
conf_restart_text(const struct conf *c, char *text, size_t size)
{
	FILE	*f = fmemopen(text, size, "w");
	size_t	 i;
	bool	 good;

	if (f == NULL)
		return false;
	for (i = 0; i < conf_nkeys; i++) {
		if (conf_keys[i].flags & CONF_F_RESTART)
			conf_print_key(c, &conf_keys[i], f);
	}
	/* what does not fit is noticed when it is written */
	good = fflush(f) == 0 && ftell(f) < (long)size;
	return fclose(f) == 0 && good;
}

/* The key whose line it is; NULL: of none, as at the end. */
static const struct conf_key *
key_of(const char *line)
{
	size_t	i, len;

	for (i = 0; i < conf_nkeys; i++) {
		len = strlen(conf_keys[i].name);
		if (strncmp(line, conf_keys[i].name, len) == 0 &&
		    line[len] == ' ')
			return &conf_keys[i];
	}
	return NULL;
}

const char *
conf_restart_differs(const char *a, const char *b)
{
	const struct conf_key	*ka, *kb;
	size_t			 la, lb;

	while (*a != '\0' || *b != '\0') {
		la = strcspn(a, "\n");
		lb = strcspn(b, "\n");
		if (la == lb && memcmp(a, b, la) == 0) {
			a += la + (a[la] != '\0');
			b += lb + (b[lb] != '\0');
			continue;
		}
		ka = key_of(a);
		kb = key_of(b);
		/* one has more names in its list, which comes first */
		if (ka == NULL || (kb != NULL && kb < ka))
			ka = kb;
		return ka == NULL ? "a setting" : ka->name;
	}
	return NULL;
}
