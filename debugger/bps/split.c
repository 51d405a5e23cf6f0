/* SPDX-License-Identifier: ISC */
/* Functions of two parts, by commands of lldb. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/op.h"
#include "debugger/dap/repl.h"
#include "debugger/text/copy.h"
#include "split.h"

static void
nothing(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	(void)arg;
}

/*
 * Searches by a regular expression; each byte of the name that could be special
 * in it, or in a command, stands for any byte.
 */
void
split_look(struct op *op, const char *function, dap_fn fn, void *arg)
{
	char name[512];
	size_t i;

	for (i = 0; i < sizeof(name) - 1 && function[i] != '\0'; i++)
		name[i] = isalnum((unsigned char)function[i]) ||
			function[i] == '_' || function[i] == ':'
			    ? function[i]
			    : '.';
	name[i] = '\0';
	repl_ask(op, REPL_NO_FRAME, fn, arg, "image lookup -v -r -s "
	    "'(^|[^A-Za-z0-9_])%s([^A-Za-z0-9_].*)?[.]cold'", name);
}

/* "Symbol: id = {0x1}, range = [0x10-0x20), name=..." */
void
split_read(struct split *s, const char *text)
{
	const char *p = text;

	s->n = 0;
	while (p != NULL && s->n < SPLIT_MOST &&
	    (p = strstr(p, " Symbol: ")) != NULL) {
		p += strcspn(p, "[\n");
		if (*p == '[')
			s->cold[s->n++] = strtoull(p + 1, NULL, 16);
	}
}

void
split_skip(struct op *op, bool on)
{
	repl_ask(op, REPL_NO_FRAME, nothing, NULL,
	    "settings set target.skip-prologue %s", on ? "true" : "false");
}

void
split_places(struct op *op, int64_t id, dap_fn fn, void *arg)
{
	repl_ask(op, REPL_NO_FRAME, fn, arg, "breakpoint list -v %" PRId64, id);
}

static bool
is_cold(const struct split *s, uint64_t address)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->cold[i] == address)
			return true;
	return false;
}

/* "FILE:LINE" or "FILE:LINE:COLUMN". */
static void
take_location(struct split_place *at, const char *text, size_t len)
{
	char *s = copy_part(text, len), *colon, *end;
	int numbers;

	for (numbers = 0; s != NULL && numbers < 2; numbers++) {
		colon = strrchr(s, ':');
		if (colon == NULL || !isdigit((unsigned char)colon[1]))
			break;
		at->line = strtoll(colon + 1, &end, 10);
		if (*end != '\0')
			break;
		*colon = '\0';
	}
	at->file = s;
}

/* "2.1:" of breakpoint 2 at the end of a line; 0 = it is not there. */
static int64_t
place_number(const char *line, size_t len, int64_t id)
{
	char head[32], *rest;
	const char *p;
	int64_t n;

	(void)snprintf(head, sizeof(head), " %" PRId64 ".", id);
	if ((p = memmem(line, len, head, strlen(head))) == NULL)
		return 0;
	n = strtoll(p + strlen(head), &rest, 10);
	return rest[0] == ':' && rest + 1 + strspn(rest + 1, " ") ==
	    line + len ? n : 0;
}

bool
split_take(struct op *op, const struct split *s, int64_t id, const char *text,
    struct split_place *first)
{
	struct split_place at = { .file = NULL };
	const char *p, *v;
	int64_t n = 0, number;
	bool found = false;
	uint64_t address;
	size_t len, told = 0;

	for (p = text; *p != '\0'; p += len + (p[len] == '\n')) {
		len = strcspn(p, "\n");
		if ((number = place_number(p, len, id)) != 0) {
			n = number;
			continue;
		}
		if ((v = memmem(p, len, " location = ", 12)) != NULL) {
			free(at.file);
			take_location(&at, v + 12, len - (size_t)(v + 12 - p));
			continue;
		}
		if ((v = memmem(p, len, " address = ", 11)) == NULL ||
		    (v = memmem(v, len - (size_t)(v - p), "0x", 2)) == NULL)
			continue;
		address = strtoull(v, NULL, 16);
		if (is_cold(s, address)) {
			if (n == 0 || told == SPLIT_MOST)
				continue;
			repl_ask(op, REPL_NO_FRAME, nothing, NULL,
			    "breakpoint disable %" PRId64 ".%" PRId64, id, n);
			told++;
			n = 0;
		} else if (!found) {
			found = true;
			*first = at;
			first->address = v[-1] == '[' ? 0 : address;
			at.file = NULL;
		}
	}
	free(at.file);
	return found;
}
