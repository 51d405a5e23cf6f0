/* SPDX-License-Identifier: ISC */
/*
 * Command lines of the protocol. A user's argument, with any content, arrives
 * as that argument or is refused here: it never becomes a second word or a
 * second command.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "quote.h"
#include "report.h"

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";

static void
append(struct line *l, const char *s, size_t len)
{
	char *text;

	if ((text = realloc(l->text, l->len + len + 1)) == NULL)
		err(CTL_USAGE, NULL);
	memcpy(text + l->len, s, len);
	l->len += len;
	text[l->len] = '\0';
	l->text = text;
}

static void
separate(struct line *l)
{
	if (l->len > 0)
		append(l, " ", 1);
}

int
line_word(struct line *l, const char *word)
{
	const unsigned char *p = (const unsigned char *)word;

	for (; *p > ' ' && *p != 0x7f; p++)
		;
	if (*p != '\0' || *word == '\0') {
		report("\"%s\" cannot be sent: it must not be empty or contain "
		    "spaces", word);
		return -1;
	}
	separate(l);
	append(l, word, strlen(word));
	return 0;
}

int
line_number(struct line *l, const char *key, unsigned int number)
{
	char word[64];

	snprintf(word, sizeof(word), "%s=%u", key, number);
	return line_word(l, word);
}

int
line_value(struct line *l, const char *key, const char *value)
{
	char *word;
	int r;

	if (*value == '\0')
		return line_word(l, value);
	if (asprintf(&word, "%s=%s", key, value) == -1)
		err(CTL_USAGE, NULL);
	r = line_word(l, word);
	free(word);
	return r;
}

void
line_any(struct line *l, const char *arg)
{
	size_t n;

	separate(l);
	if (*arg != '\0' && arg[strspn(arg, plain)] == '\0') {
		append(l, arg, strlen(arg));
		return;
	}
	/* nothing is special between single quotes, but for themselves */
	append(l, "'", 1);
	for (; *arg != '\0'; arg += n) {
		if ((n = strcspn(arg, "'")) > 0)
			append(l, arg, n);
		else {
			append(l, "'\\''", 4);
			n = 1;
		}
	}
	append(l, "'", 1);
}

int
line_quoted(struct line *l, const char *arg)
{
	if (strchr(arg, '\n') != NULL) {
		report("the argument \"%s\" contains a line feed, which ends a "
		    "command of the protocol; pass it in a file", arg);
		return -1;
	}
	line_any(l, arg);
	return 0;
}

int
line_as_it_is(struct line *l, const char *text)
{
	size_t len = strlen(text);

	if (strchr(text, '\n') != NULL ||
	    (len > 0 && text[len - 1] == '\r')) {
		report("\"%s\" cannot be sent: it must not contain a line feed "
		    "or end with a carriage return", text);
		return -1;
	}
	separate(l);
	append(l, text, len);
	return 0;
}

int
line_end(struct line *l)
{
	if (l->len > CONN_LINE_MAX) {
		report("the command takes %zu bytes, the protocol carries %d; "
		    "pass long arguments in a file", l->len, CONN_LINE_MAX);
		return -1;
	}
	append(l, "\n", 1);
	return 0;
}
