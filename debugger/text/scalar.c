/* SPDX-License-Identifier: ISC */
/* Numbers and text that a client wants a variable to have. */
#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "copy.h"
#include "scalar.h"

/* -- integers ----------------------------------------------------------- */
static int
digit_of(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : 16;
}

bool
scalar_parse(const char *s, struct scalar *n)
{
	scalar_bits most = ~(scalar_bits)0;
	unsigned int base = 10, d;

	*n = (struct scalar) { .negative = *s == '-' };
	if (*s == '-' || *s == '+')
		s++;
	if (strncasecmp(s, "0x", 2) == 0) {
		base = 16;
		s += 2;
	}
	if (*s == '\0')
		return false;
	for (; *s != '\0'; s++) {
		if ((d = (unsigned int)digit_of(*s)) >= base ||
		    n->size > (most - d) / base)
			return false;
		n->size = n->size * base + d;
	}
	if (n->size == 0)
		n->negative = false;
	return true;
}

static scalar_bits
most_of(size_t bytes, bool is_signed)
{
	const size_t bits = bytes * 8 - (is_signed ? 1 : 0);

	return bits >= 128 ? ~(scalar_bits)0 : ((scalar_bits)1 << bits) - 1;
}

bool
scalar_fits(const struct scalar *n, size_t bytes, bool is_signed)
{
	scalar_bits most;

	if (bytes == 0 || bytes > sizeof(scalar_bits))
		return false;
	most = most_of(bytes, is_signed);
	if (n->negative)
		return is_signed && n->size <= most + 1;
	return n->size <= most;
}

void
scalar_range(size_t bytes, bool is_signed, char *out, size_t room)
{
	if (bytes == 0 || bytes > 8)
		(void)snprintf(out, room, "fewer");
	else if (is_signed)
		(void)snprintf(out, room, "%" PRId64 " to %" PRId64,
		    -(int64_t)most_of(bytes, true) - 1,
		    (int64_t)most_of(bytes, true));
	else
		(void)snprintf(out, room, "0 to %" PRIu64,
		    (uint64_t)most_of(bytes, false));
}

static scalar_bits
bits_of(const struct scalar *n)
{
	return n->negative ? ~n->size + 1 : n->size;
}

bool
scalar_same(const struct scalar *a, const struct scalar *b, size_t bytes)
{
	return ((bits_of(a) ^ bits_of(b)) & most_of(bytes, false)) == 0;
}

void
scalar_write(const struct scalar *n, char *out, size_t room)
{
	const scalar_bits bits = bits_of(n);
	const uint64_t high = (uint64_t)(bits >> 64);

	if (high == 0 || (n->negative && high == UINT64_MAX &&
	    (int64_t)bits < 0))
		(void)snprintf(out, room, "%s0x%" PRIx64 "ULL",
		    high == 0 ? "" : "(long long)", (uint64_t)bits);
	else
		(void)snprintf(out, room, "((unsigned __int128)0x%" PRIx64
		    "ULL << 64 | 0x%" PRIx64 "ULL)", high, (uint64_t)bits);
}

/* -- floating point ----------------------------------------------------- */
static bool
read_float(const char *s, long double *f)
{
	char *end;

	*f = strtold(s, &end);
	return end != s && *end == '\0';
}

bool
scalar_float(const char *s, const char *type, char *digits, char *out,
    size_t room)
{
	long double f;

	if (!read_float(s, &f))
		return false;
	/* nine digits stand for a float, and are another double */
	if (type != NULL && strcmp(type, "float") == 0)
		f = strtof(s, NULL);
	else if (type != NULL && strcmp(type, "double") == 0)
		f = strtod(s, NULL);
	(void)snprintf(digits, room, "%.21Lg", f);
	if (isnan(f))
		(void)snprintf(out, room, "__builtin_nan(\"\")");
	else if (isinf(f))
		(void)snprintf(out, room, "%s__builtin_inf()",
		    f < 0 ? "-" : "");
	else
		(void)snprintf(out, room, "%.21Le" "L", f);
	return true;
}

/* Rounds the value to a float or a double. */
static long double
rounded(long double f, size_t bytes)
{
	if (bytes == sizeof(float))
		return (float)f;
	return bytes == sizeof(double) ? (double)f : f;
}

bool
scalar_float_same(const char *a, const char *b, size_t bytes)
{
	long double x, y;

	if (!read_float(a, &x) || !read_float(b, &y))
		return false;
	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	return rounded(x, bytes) == rounded(y, bytes);
}

bool
scalar_float_beyond(const char *s, size_t bytes)
{
	long double f, there;

	if (!read_float(s, &f) || isnan(f) || isinf(f))
		return false;
	there = rounded(f, bytes);
	return isinf(there) || (f != 0 && there == 0);
}

/* -- text --------------------------------------------------------------- */
/* Reads an escape, after its backslash; NULL: there is no such. */
static const char *
unescape(const char *s, char *out)
{
	static const char names[] = "ntr0abfve\\\"'?";
	static const char bytes[] = "\n\t\r\0\a\b\f\v\033\\\"'?";
	unsigned int v = 0, n;
	const char *p;

	if (*s == 'x') {
		for (n = 0, s++; n < 2 && digit_of(*s) < 16; n++, s++)
			v = v * 16 + (unsigned int)digit_of(*s);
		*out = (char)v;
		return n == 0 ? NULL : s;
	}
	if (*s >= '0' && *s <= '7') {
		for (n = 0; n < 3 && *s >= '0' && *s <= '7'; n++, s++)
			v = v * 8 + (unsigned int)(*s - '0');
		*out = (char)v;
		return v > 255 ? NULL : s;
	}
	if (*s == '\0' || (p = strchr(names, *s)) == NULL)
		return NULL;
	*out = bytes[p - names];
	return s + 1;
}

char *
scalar_text(const char *s, size_t *len)
{
	char *out;

	*len = 0;
	if (*s++ != '"')
		return NULL;
	out = copy_text(s);
	while (s != NULL && *s != '"' && *s != '\0')
		if (*s == '\\')
			s = unescape(s + 1, out + (*len)++);
		else
			out[(*len)++] = *s++;
	/* text after it would be an expression */
	if (s == NULL || *s != '"' || s[1] != '\0') {
		free(out);
		return NULL;
	}
	out[*len] = '\0';
	return out;
}
