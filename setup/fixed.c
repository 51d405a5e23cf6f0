/* SPDX-License-Identifier: ISC */
/*
 * Settings that only a restart changes: a running process cannot get its
 * users, places and isolation again.  The parent keeps them as text, which it
 * hands back at a reload and does not read.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "setup.h"

/* The names come as the messages have them, in the order of the lines. */
static const char *const names[] = {
	"state-dir", "run-dir", "min-uid", "allow-group", "weaken-"
};
#define NNAMES	(sizeof(names) / sizeof(names[0]))

static void __attribute__((format(printf, 2, 3)))
append(char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text + len, FIXED_MAX - len, fmt, ap) >=
	    (int)(FIXED_MAX - len))
		fatalx("the names of allow-group are too long");
	va_end(ap);
}

void
fixed_text(const struct conf *c, char text[FIXED_MAX])
{
	size_t i;

	text[0] = '\0';
	append(text, "%s\n%s\n%u\n", c->state_dir, c->run_dir, c->min_uid);
	for (i = 0; i < c->allow_groups.n; i++)
		append(text, "%s,", c->allow_groups.v[i]);
	append(text, "\n%d%d%d\n", c->weaken_userns, c->weaken_seccomp,
	    c->weaken_chroot);
}

const char *
fixed_differs(const char *a, const char *b)
{
	size_t i, la, lb;

	for (i = 0; i < NNAMES; i++) {
		la = strcspn(a, "\n");
		lb = strcspn(b, "\n");
		if (la != lb || memcmp(a, b, la) != 0)
			return names[i];
		a += la + (a[la] != '\0');
		b += lb + (b[lb] != '\0');
	}
	return NULL;
}
