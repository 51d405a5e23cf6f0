/* SPDX-License-Identifier: ISC */
/* The adapter statements of the configuration: what speaks DAP, by name. */
#include <stdlib.h>
#include <string.h>

#include "conf_table.h"

/* As much as a debugger's process is told. */
#define NAME_MAX_BYTES		31
#define COMMAND_MAX_BYTES	479

void
conf_adapter_clear(struct conf_adapter *a)
{
	free(a->name);
	free(a->command);
	memset(a, 0, sizeof(*a));
}

static bool
name_valid(const char *s)
{
	size_t	len = strlen(s);

	return len > 0 && len <= NAME_MAX_BYTES && s[0] != '-' &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.+") == len;
}

static bool
command_valid(const char *s)
{
	size_t	len = strlen(s);

	if (len == 0 || len > COMMAND_MAX_BYTES || s[0] == ' ')
		return false;
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	}
	return true;
}

static int
adapter_valid(const struct conf *c, const struct conf_adapter *a, char *err,
    size_t errsize)
{
	char	quoted[80];
	size_t	i;

	conf_quote(name_valid(a->name) ? a->command : a->name, quoted);
	if (!name_valid(a->name)) {
		snprintf(err, errsize, "the name of an adapter must be 1 to "
		    "%d small letters, digits, \".\", \"_\", \"+\" or "
		    "\"-\", not %s", NAME_MAX_BYTES, quoted);
		return -1;
	}
	if (!command_valid(a->command)) {
		snprintf(err, errsize, "the command of adapter %s must be a "
		    "program and its arguments in at most %d bytes, not %s",
		    a->name, COMMAND_MAX_BYTES, quoted);
		return -1;
	}
	for (i = 0; i < c->nadapters; i++) {
		if (strcmp(c->adapters[i].name, a->name) != 0)
			continue;
		snprintf(err, errsize, "adapter %s is already set in line %d",
		    a->name, c->adapters[i].line);
		return -1;
	}
	if (c->nadapters == CONF_MAX_ADAPTERS) {
		snprintf(err, errsize, "more than %d adapter statements",
		    CONF_MAX_ADAPTERS);
		return -1;
	}
	return 0;
}

int
conf_adapter_add(struct conf *c, struct conf_adapter *a, char *err,
    size_t errsize)
{
	struct conf_adapter	*adapters;

	if (adapter_valid(c, a, err, errsize) == -1)
		goto fail;
	adapters = reallocarray(c->adapters, c->nadapters + 1,
	    sizeof(*adapters));
	if (adapters == NULL) {
		snprintf(err, errsize, "out of memory");
		goto fail;
	}
	c->adapters = adapters;
	c->adapters[c->nadapters++] = *a;
	memset(a, 0, sizeof(*a));
	return 0;
 fail:
	conf_adapter_clear(a);
	return -1;
}

void
conf_adapter_print(const struct conf_adapter *a, FILE *f)
{
	fprintf(f, "adapter ");
	conf_print_quoted(a->name, f);
	fprintf(f, " command ");
	conf_print_quoted(a->command, f);
	putc('\n', f);
}

bool
conf_adapters_equal(const struct conf *a, const struct conf *b)
{
	size_t	i;

	if (a->nadapters != b->nadapters)
		return false;
	for (i = 0; i < a->nadapters; i++) {
		if (strcmp(a->adapters[i].name, b->adapters[i].name) != 0 ||
		    strcmp(a->adapters[i].command,
		    b->adapters[i].command) != 0)
			return false;
	}
	return true;
}
