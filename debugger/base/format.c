/* SPDX-License-Identifier: ISC */
/*
 * Answers are bounded: what does not fit is left out, and the answer says
 * what, how much, and how to ask for the rest.  Numbers in other bases.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/base64.h"
#include "base/log.h"
#include "base/utf8.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/json_size.h"
#include "format.h"
#include "op.h"

/* Kept free for "truncated" itself, which is written last. */
#define BOUND_RESERVE	512

size_t
format_cut(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

bool
format_is_text(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' && s[i] != '\n' &&
		    s[i] != '\t' && s[i] != '\r' && s[i] != '\033')
			return false;
	return utf8_valid(s, len);
}

char *
format_base64(const void *data, size_t len)
{
	char *out = malloc(BASE64_LEN(len) + 1);

	if (out == NULL)
		fatal("base64");
	base64_put(out, data, len);
	out[BASE64_LEN(len)] = '\0';
	return out;
}

bool
bound_init(struct bound *b, struct op *op)
{
	int64_t max = BOUND_DEFAULT;

	if (op != NULL && !op_int(op, "max", false, &max))
		return false;
	if (max < 1024 || max > BOUND_MOST) {
		op_fail(op, "invalid_argument",
		    "max is %lld: an answer has from 1024 to %d bytes",
		    (long long)max, BOUND_MOST);
		return false;
	}
	*b = (struct bound) { .max = (size_t)max - BOUND_RESERVE };
	if (op != NULL && op->warning != NULL)
		b->used = strlen(op->warning) + 16;
	return true;
}

static bool
fits(struct bound *b, size_t extra, struct json_object *v)
{
	size_t cost = jsize(v) + extra;

	if (cost > bound_left(b)) {
		json_object_put(v);
		return false;
	}
	b->used += cost;
	return true;
}

bool
bound_add(struct bound *b, struct json_object *arr, struct json_object *v)
{
	if (!fits(b, 1, v))
		return false;
	jadd(arr, v);
	return true;
}

bool
bound_put(struct bound *b, struct json_object *o, const char *name,
    struct json_object *v)
{
	if (!fits(b, strlen(name) + 4, v))
		return false;
	jput(o, name, v);
	return true;
}

size_t
bound_left(const struct bound *b)
{
	return b->used < b->max ? b->max - b->used : 0;
}

void
bound_cut(struct bound *b, const char *what, int64_t shown, int64_t of,
    const char *path, int64_t offset)
{
	struct json_object *o;

	if (b->cuts == NULL)
		b->cuts = jarray();
	/* a few say enough: the reserve must hold them */
	if (jlen(b->cuts) == 4)
		return;
	o = jobject();
	jput_str(o, "what", what);
	jput_int(o, "shown", shown);
	if (of >= 0)
		jput_int(o, "of", of);
	if (path != NULL && strlen(path) < 64)
		jput_str(o, "path", path);
	jput_int(o, "offset", offset);
	jadd(b->cuts, o);
}

void
bound_done(struct bound *b, struct json_object *answer)
{
	if (b->cuts != NULL)
		jput(answer, "truncated", b->cuts);
	b->cuts = NULL;
}

bool
format_by_name(const char *name, enum number_format *f)
{
	static const char *const names[] = { "none", "hex", "binary",
		"address", "octal", "decimal" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			*f = (enum number_format)i;
			return true;
		}
	return false;
}

/* 'a' and '\x01', as C's debuggers show characters. */
static bool
quoted_number(const char *p, int64_t *n)
{
	char *end;

	if (*p++ != '\'')
		return false;
	if (*p != '\\') {
		*n = (unsigned char)*p;
		return *p != '\0' && p[1] == '\'';
	}
	if (p[1] == 'x')
		*n = strtol(p + 2, &end, 16);
	else
		*n = strtol(p + 1, &end, 8);
	return *end == '\'' && end > p + 1;
}

bool
format_number(const char *value, int64_t *n)
{
	const char *digits;
	char *end;

	while (isspace((unsigned char)*value))
		value++;
	if (quoted_number(value, n))
		return true;
	digits = *value == '-' || *value == '+' ? value + 1 : value;
	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	/* leading zeros are no octal here: lldb pads */
	if (digits[0] == '0' && (digits[1] | 32) == 'x')
		*n = (int64_t)strtoull(value, &end, 16);
	else if (*value == '-')
		*n = strtoll(value, &end, 10);
	else
		*n = (int64_t)strtoull(value, &end, 10);
	/* 2.5 and 12abc are none; `97 'a'` and `0x12 "text"` are */
	return errno == 0 && (*end == '\0' || *end == ' ');
}

/* Bits of a type by its name; 64 when nothing is known of it. */
static unsigned int
width(const char *type)
{
	static const struct {
		const char	*name;
		unsigned int	 bits;
	} known[] = {
		{ "char", 8 }, { "signed char", 8 }, { "unsigned char", 8 },
		{ "bool", 8 }, { "_Bool", 8 }, { "int8_t", 8 },
		{ "uint8_t", 8 }, { "i8", 8 }, { "u8", 8 }, { "int8", 8 },
		{ "uint8", 8 }, { "byte", 8 }, { "short", 16 },
		{ "unsigned short", 16 }, { "int16_t", 16 },
		{ "uint16_t", 16 }, { "i16", 16 }, { "u16", 16 },
		{ "int16", 16 }, { "uint16", 16 }, { "int", 32 },
		{ "unsigned int", 32 }, { "unsigned", 32 }, { "int32_t", 32 },
		{ "uint32_t", 32 }, { "i32", 32 }, { "u32", 32 },
		{ "int32", 32 }, { "uint32", 32 },
	};
	size_t i;

	if (strncmp(type, "const ", 6) == 0)
		type += 6;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(type, known[i].name) == 0)
			return known[i].bits;
	return 64;
}

static void
binary(uint64_t n, unsigned int bits, char *out, size_t room)
{
	size_t i, at = 2;

	/* whole bytes, as many as the number needs */
	while (bits > 8 && n >> (bits - 8) == 0)
		bits -= 8;
	snprintf(out, room, "0b");
	for (i = bits; i-- > 0 && at + 1 < room;)
		out[at++] = n >> i & 1 ? '1' : '0';
	out[at] = '\0';
}

/*
 * A number with a sign keeps it; one that was written with 0x is an address
 * or a mask, which has none.
 */
static void
decimal(int64_t n, const char *value, char *out, size_t room)
{
	while (isspace((unsigned char)*value))
		value++;
	if (*value == '-' || *value == '\'')
		snprintf(out, room, "%lld", (long long)n);
	else
		snprintf(out, room, "%llu", (unsigned long long)n);
}

bool
format_value(enum number_format f, const char *value, const char *type,
    char *out, size_t room)
{
	unsigned int bits = width(type == NULL ? "" : type);
	uint64_t n;
	int64_t i;

	if (f == FORMAT_NONE || !format_number(value, &i))
		return false;
	n = (uint64_t)i;
	/* an int of Go has 64: what does not fit was no smaller one */
	if (bits < 63 && i >= -(1LL << (bits - 1)) && i < 1LL << bits)
		n &= (1ULL << bits) - 1;
	if (f == FORMAT_BINARY)
		binary(n, bits, out, room);
	else if (f == FORMAT_DECIMAL)
		decimal(i, value, out, room);
	else if (f == FORMAT_OCTAL)
		snprintf(out, room, "0o%llo", (unsigned long long)n);
	else
		snprintf(out, room, f == FORMAT_HEX ? "0x%llx" : "0x%016llx",
		    (unsigned long long)n);
	return true;
}

bool
format_address(const char *value, uint64_t *address)
{
	const char *p = strstr(value, "0x");
	char *end;

	if (p == NULL)
		p = strstr(value, "0X");
	if (p == NULL)
		return false;
	errno = 0;
	*address = strtoull(p + 2, &end, 16);
	return errno == 0 && end > p + 2;
}
