/* SPDX-License-Identifier: ISC */
/* Parses what lldb prints about memory and instructions. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "json_make.h"
#include "memtext.h"

size_t
memtext_dump(const char *text, uint8_t *out, size_t room)
{
	const char *line, *end, *p;
	unsigned long v;
	char *after;
	size_t n = 0;

	for (line = text; *line != '\0'; line = *end == '\0' ? end : end + 1) {
		end = line + strcspn(line, "\n");
		if (strncmp(line, "0x", 2) != 0 ||
		    (p = memchr(line, ':', (size_t)(end - line))) == NULL)
			continue;
		for (p++; p < end && n < room; p = after) {
			v = strtoul(p, &after, 16);
			/* past its end there are letters, for people */
			if (after == p || after > end || v > 0xff)
				break;
			out[n++] = (uint8_t)v;
		}
	}
	return n;
}

const char *
memtext_error(const char *text)
{
	const char *p = strstr(text, "error: ");

	return p == NULL ? text : p + 7;
}

static int
digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

int64_t
memtext_unhex(const char *s, uint8_t *out, size_t room)
{
	size_t n = 0;
	int high, low;

	for (; *s != '\0'; s += 2) {
		while (*s == ' ')
			s++;
		if (*s == '\0')
			break;
		high = digit(s[0]);
		low = high < 0 ? -1 : digit(s[1]);
		if (low < 0 || n == room)
			return -1;
		out[n++] = (uint8_t)(high * 16 + low);
	}
	return (int64_t)n;
}

size_t
memtext_function(const char *text, uint64_t *start, int64_t *present)
{
	const char *line, *p;
	size_t n = 0;

	*present = -1;
	for (line = text; line != NULL && *line != '\0';
	    line = (line = strchr(line, '\n')) == NULL ? NULL : line + 1) {
		p = line;
		if (strncmp(p, "->", 2) == 0)
			p += 2;
		p += strspn(p, " ");
		if (strncmp(p, "0x", 2) != 0)
			continue;
		if (n == 0)
			*start = strtoull(p, NULL, 16);
		if (line[0] == '-')
			*present = (int64_t)n;
		n++;
	}
	return n;
}

/*
 * Lines "(type) name = value"; what is within values is indented.  lldb leaves
 * out the second space before a structure without members: "(S) s ={...}".
 */
struct json_object *
memtext_names(const char *text)
{
	struct json_object *names = jarray();
	const char *line, *end, *eq, *p;

	for (line = text; *line != '\0'; line = *end == '\0' ? end : end + 1) {
		end = line + strcspn(line, "\n");
		eq = memmem(line, (size_t)(end - line), " =", 2);
		if (*line != '(' || eq == NULL)
			continue;
		for (p = eq; p > line && p[-1] != ' ' && p[-1] != ')';)
			p--;
		if (p < eq)
			jadd(names, jtext_len(p, (size_t)(eq - p)));
	}
	return names;
}
