/* SPDX-License-Identifier: ISC */
/* links: tracer/syms/desc.c tracer/syms/render.c tracer/syms/inverse.c tracer/syms/symindex.c tracer/syms/match.c common/utf8.c */
/* covers: tracer/syms/desc.c tracer/syms/render.c tracer/syms/inverse.c tracer/syms/symindex.c tracer/syms/match.c */
/*
 * Fuzz target: a hostile description with hostile bytes, a hostile index, and
 * any pattern on any name.  What is rendered is printable ASCII or UTF-8 with
 * balanced quotes, and within its bound.
 */

#include "regress/fuzz/fuzz.h"

#include "syms/inverse.h"
#include "syms/match.h"
#include "syms/render.h"
#include "syms/symindex.h"

static void
check_text(const struct render_out *o)
{
	size_t i;
	bool in = false;

	if (o->len > RENDER_MAX)
		abort();
	for (i = 0; i < o->len; i++) {
		if ((unsigned char)o->buf[i] < 0x20)
			abort();
		if (o->buf[i] == '\\')
			i++;
		else if (o->buf[i] == '"')
			in = !in;
	}
	if (in && !o->bad)
		abort();
}

/* What was shown, or something else, looked for. */
static void
try_inverse(const struct desc *d, const struct capture *steps,
    const struct render_out *o, const uint8_t *data, size_t len)
{
	static struct store_inverse inv;
	struct store_value v = { .type = STORE_STRING, .s = o->buf,
		.len = o->len };
	uint32_t type;

	inverse_of(d, steps, CAPTURE_MAX, &v, &inv);
	for (type = STORE_NULL; type <= STORE_COMPOUND; type++) {
		v = (struct store_value){ .type = type,
			.s = (const char *)data, .len = len };
		memcpy(&v.integer, data, len < 8 ? len : 8);
		memcpy(&v.real, data, len < 8 ? len : 8);
		v.negative = (int64_t)v.integer < 0;
		inverse_of(d, steps, len % 3, &v, &inv);
		if (inv.len > STORE_BYTES_MAX)
			abort();
	}
}

static void
try_desc(const uint8_t *data, size_t len)
{
	struct capture steps[CAPTURE_MAX];
	struct render_out o = { 0 };
	struct desc d;
	size_t n = len / 2;

	if (n < sizeof(steps))
		return;
	memcpy(steps, data, sizeof(steps));
	if (desc_open(&d, data + sizeof(steps), n - sizeof(steps)) == -1)
		return;
	render_args(&d, steps, CAPTURE_MAX, data + n, len - n, &o);
	check_text(&o);
	o.len = 0;
	o.bad = false;
	render_result(&d, steps, CAPTURE_MAX, data + n, len - n, &o);
	check_text(&o);
	try_inverse(&d, steps, &o, data + n, len - n);
	free(o.buf);
	desc_close(&d);
}

static void
try_index(const uint8_t *data, size_t len)
{
	char why[200], *p = malloc(len + 1);
	struct symindex ix;
	uint32_t i;

	if (p == NULL)
		abort();
	memcpy(p, data, len);
	if (symindex_check(&ix, p, len, why, sizeof(why)) == 0)
		for (i = 0; i < ix.header->nfuncs; i++) {
			(void)strlen(symindex_str(&ix, ix.funcs[i].name));
			(void)symindex_at(&ix, ix.funcs[i].addr + 1);
		}
	free(p);
}

static void
try_match(const uint8_t *data, size_t len)
{
	char *p = malloc(len + 1), *name, why[200];
	struct pattern *pat;

	if (p == NULL)
		abort();
	memcpy(p, data, len);
	p[len] = '\0';
	name = p + strlen(p);
	if (name < p + len)
		name++;
	pat = pattern_new(p, "/app", why, sizeof(why));
	if (pat != NULL)
		(void)pattern_matches(pat, name, "", name);
	else if (why[0] == '\0')
		abort();
	pattern_free(pat);
	free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len == 0)
		return 0;
	switch (data[0]) {
	case 'D':
		try_desc(data + 1, len - 1);
		break;
	case 'I':
		try_index(data + 1, len - 1);
		break;
	default:
		try_match(data, len);
		break;
	}
	return 0;
}
