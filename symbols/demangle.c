/* SPDX-License-Identifier: ISC */
/*
 * libiberty's demanglers, with bounds of ours.  They hand out their result
 * piece by piece, which lets us leave them as soon as it is too long: back
 * references let a short name stand for gigabytes.  They allocate nothing
 * that would be lost by that.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "demangle.h"

/* Longer names are shown as they are; their parse is recursive. */
#define RAW_MAX		4096
/* Pieces of no bytes cost time as well. */
#define PIECES_MAX	20000

struct demangled {
	char		*out;
	size_t		 len, size;
	unsigned int	 pieces;
	jmp_buf		 leave;
};

static void
take(const char *p, size_t n, void *arg)
{
	struct demangled *s = arg;

	if (n >= s->size - s->len || ++s->pieces > PIECES_MAX)
		longjmp(s->leave, 1);
	memcpy(s->out + s->len, p, n);
	s->len += n;
}

/*
 * "_ZN...17h0123456789abcdefE", what Rust's compiler wrote until lately: the
 * length up to that, else 0.
 */
static size_t
old_rust_length(const char *raw, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	size_t i;

	if (strncmp(raw, "_ZN", 3) != 0)
		return 0;
	for (i = 3; i + 20 <= len; i++)
		if (memcmp(raw + i, "17h", 3) == 0 && raw[i + 19] == 'E' &&
		    strspn(raw + i + 3, hex) == 16)
			return i + 20;
	return 0;
}

static bool
run(const char *name, bool rust, struct demangled *s)
{
	if (setjmp(s->leave) != 0)
		return false;
	if (rust)
		return rust_demangle_callback(name, DMGL_NO_OPTS, take, s);
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take, s);
}

/* A suffix is the compiler's remark about a copy: ".isra.0", ".llvm.123". */
static size_t
bare_length(const char *raw, size_t len)
{
	const char *dot = memchr(raw, '.', len);

	return dot == NULL ? len : (size_t)(dot - raw);
}

size_t
demangle(const char *raw, size_t len, char *out, size_t size)
{
	static char name[RAW_MAX + 1];
	struct demangled s = { .out = out, .size = size };
	size_t old;

	if (len < 3 || len > RAW_MAX || raw[0] != '_' ||
	    (raw[1] != 'Z' && raw[1] != 'R'))
		return 0;
	memcpy(name, raw, len);
	name[len] = '\0';
	old = old_rust_length(name, len);
	len = old != 0 ? old : bare_length(name, len);
	name[len] = '\0';
	if (len < 3 || !run(name, old != 0 || raw[1] == 'R', &s) || s.len == 0)
		return 0;
	out[s.len] = '\0';
	return s.len;
}
