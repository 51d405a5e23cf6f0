/* SPDX-License-Identifier: ISC */
/* Values, from the bytes that were captured. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "render.h"

#define UNREADABLE	"\"<unreadable>\""
#define LOST		"\"<optimized out>\""
#define DEPTH_MAX	6
/* Nodes of one rendering: a description could name the same ones again. */
#define VISITS_MAX	20000

/* A step's yield, or nothing. */
struct got {
	const uint8_t	*p;
	size_t		 len;
	unsigned int	 status;
};

/* Whether a byte was captured. */
enum have {
	HAVE_NOT,		/* no step was to capture it */
	HAVE,
	HAVE_FAILED
};

/* Bytes that values lie in, and which of them are there. */
struct view {
	const uint8_t	*p, *have;	/* have NULL = all are */
	size_t		 len;
};

struct render {
	const struct desc *d;
	struct got	 got[CAPTURE_MAX];
	struct render_out *out;
	uint64_t	 addr;		/* of the value, 0 = it has none */
	unsigned int	 visits;
};

/* -- text ----------------------------------------------------------------- */

static void
put(struct render_out *o, const char *p, size_t len)
{
	size_t want;
	char *buf;

	if (o->bad || len > RENDER_MAX - o->len) {
		o->bad = true;
		return;
	}
	if (o->len + len > o->cap) {
		want = o->cap == 0 ? 256 : o->cap * 2;
		while (want < o->len + len)
			want *= 2;
		buf = realloc(o->buf, want);
		if (buf == NULL) {
			o->bad = true;
			return;
		}
		o->buf = buf;
		o->cap = want;
	}
	memcpy(o->buf + o->len, p, len);
	o->len += len;
}

static void
put_word(struct render_out *o, const char *w)
{
	put(o, w, strlen(w));
}

static void	put_format(struct render_out *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

static void
put_format(struct render_out *o, const char *fmt, ...)
{
	char buf[64];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n > 0)
		put(o, buf, (size_t)n < sizeof(buf) ? (size_t)n :
		    sizeof(buf) - 1);
}

static void
put_escaped(struct render_out *o, unsigned char c)
{
	switch (c) {
	case '"':
		put_word(o, "\\\"");
		break;
	case '\\':
		put_word(o, "\\\\");
		break;
	case '\n':
		put_word(o, "\\n");
		break;
	case '\t':
		put_word(o, "\\t");
		break;
	case '\r':
		put_word(o, "\\r");
		break;
	default:
		put_format(o, "\\u%04x", c);
		break;
	}
}

/* The inside of a string. */
static void
put_chars(struct render_out *o, const char *s, size_t len, bool cut)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0, plain = 0;
	int n;

	while (i < len) {
		n = utf8_length(p + i, len - i);
		if (n == 1 && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\' &&
		    p[i] != 0x7f) {
			i++;
			continue;
		}
		if (n > 1) {
			i += (size_t)n;
			continue;
		}
		put(o, s + plain, i - plain);
		if (n == -1 && cut)
			return;
		if (n == 1)
			put_escaped(o, p[i]);
		else
			put_format(o, "\\\\x%02x", p[i]);
		plain = ++i;
	}
	put(o, s + plain, len - plain);
}

void
render_string(struct render_out *o, const char *s, size_t len, bool cut)
{
	put(o, "\"", 1);
	put_chars(o, s, len, cut);
	put(o, "\"", 1);
}

static void
put_name(struct render_out *o, const char *s)
{
	render_string(o, s, strlen(s), false);
}

/* -- bytes ---------------------------------------------------------------- */

/* Walks what the steps have left; a record may end anywhere. */
static void
collect(struct render *r, const struct capture *steps, size_t nsteps,
    const void *p, size_t len)
{
	const uint8_t *at = p;
	struct captured c;
	size_t i;

	for (i = 0; i < nsteps && i < CAPTURE_MAX; i++) {
		if (steps[i].op == CAP_END || len < sizeof(c))
			return;
		memcpy(&c, at, sizeof(c));
		if (captured_size(c.len) > len ||
		    c.len > capture_most(&steps[i]))
			return;
		r->got[i].p = at + sizeof(c);
		r->got[i].len = c.len;
		r->got[i].status = c.status;
		at += captured_size(c.len);
		len -= captured_size(c.len);
	}
}

static const struct got *
got_of(const struct render *r, unsigned int step)
{
	static const struct got none = { .status = CAP_UNREAD };

	return step < CAPTURE_MAX && r->got[step].p != NULL ?
	    &r->got[step] : &none;
}

static bool
is_there(const struct view *v, uint64_t off, uint64_t len)
{
	uint64_t i;

	if (off > v->len || len > v->len - off)
		return false;
	for (i = 0; v->have != NULL && i < len; i++)
		if (v->have[off + i] != HAVE)
			return false;
	return true;
}

/* In place of a value whose bytes are not all there. */
static void
put_missing(struct render *r, const struct view *v, uint64_t off, uint64_t len)
{
	uint64_t i;

	for (i = off; v->have != NULL && i < v->len && i - off < len; i++)
		if (v->have[i] == HAVE_NOT) {
			put_word(r->out, LOST);
			return;
		}
	put_word(r->out, UNREADABLE);
}

static bool
read_uint(const struct view *v, uint64_t off, uint64_t size, uint64_t *u)
{
	*u = 0;
	if (size == 0 || size > 8 || !is_there(v, off, size))
		return false;
	memcpy(u, v->p + off, size);
	return true;
}

static uint64_t
extend(uint64_t u, unsigned int bits)
{
	if (bits < 64 && u >> (bits - 1) & 1)
		u |= ~0ULL << bits;
	return u;
}

/* -- values --------------------------------------------------------------- */

static void
put_u128(struct render_out *o, unsigned __int128 u, bool negative)
{
	char buf[48];
	size_t i = sizeof(buf);

	do {
		buf[--i] = (char)('0' + (int)(u % 10));
		u /= 10;
	} while (u != 0);
	if (negative)
		buf[--i] = '-';
	put(o, buf + i, sizeof(buf) - i);
}

static void
render_wide(struct render *r, const struct desc_node *n, const struct view *v)
{
	unsigned __int128 u;
	bool negative, more;

	if (!is_there(v, n->off, sizeof(u))) {
		put_missing(r, v, n->off, sizeof(u));
		return;
	}
	memcpy(&u, v->p + n->off, sizeof(u));
	negative = n->kind == DESC_SINT && u >> 127 != 0;
	if (negative)
		u = -u;
	/* many that read JSON make their largest number of what is larger */
	more = u > (negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX);
	put(r->out, "\"", more);
	put_u128(r->out, u, negative);
	put(r->out, "\"", more);
}

static void
render_int(struct render *r, const struct desc_node *n, const struct view *v)
{
	unsigned int bits = n->size * 8;
	uint64_t u, size = n->size;

	if (n->size == 16) {
		render_wide(r, n, v);
		return;
	}
	if (n->flags & DESC_BITS) {
		/* no more bytes than the field has something of */
		size = (n->bit_off + (uint64_t)n->bit_size + 7) / 8;
		bits = n->bit_size;
	}
	if (!read_uint(v, n->off, size, &u)) {
		put_missing(r, v, n->off, size);
		return;
	}
	if (n->flags & DESC_BITS)
		u = u >> n->bit_off & (bits < 64 ? (1ULL << bits) - 1 :
		    UINT64_MAX);
	if (n->kind == DESC_BOOL)
		put_word(r->out, u != 0 ? "true" : "false");
	else if (n->kind == DESC_SINT)
		put_format(r->out, "%" PRId64, (int64_t)extend(u, bits));
	else
		put_format(r->out, "%" PRIu64, u);
}

/* The fewest digits that give the same number again. */
static void
put_double(struct render_out *o, double x, bool narrow)
{
	char buf[40];
	int digits;

	if (isnan(x)) {
		put_word(o, "\"NaN\"");
		return;
	}
	if (isinf(x)) {
		put_word(o, x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
		return;
	}
	for (digits = narrow ? 6 : 15; digits < 17; digits++) {
		(void)snprintf(buf, sizeof(buf), "%.*g", digits, x);
		if (narrow ? strtof(buf, NULL) == (float)x :
		    strtod(buf, NULL) == x)
			break;
	}
	(void)snprintf(buf, sizeof(buf), "%.*g", digits, x);
	put_word(o, buf);
}

static void
render_float(struct render *r, const struct desc_node *n, const struct view *v)
{
	long double wide;
	double d;
	float f;

	if (!is_there(v, n->off, n->size)) {
		put_missing(r, v, n->off, n->size);
		return;
	}
	switch (n->size) {
	case sizeof(f):
		memcpy(&f, v->p + n->off, sizeof(f));
		put_double(r->out, (double)f, true);
		break;
	case sizeof(d):
		memcpy(&d, v->p + n->off, sizeof(d));
		put_double(r->out, d, false);
		break;
	case sizeof(wide):
		memcpy(&wide, v->p + n->off, sizeof(wide));
		put_double(r->out, (double)wide, false);
		break;
	default:
		put_word(r->out, LOST);
		break;
	}
}

static void
render_pointer(struct render *r, const struct desc_node *n,
    const struct view *v)
{
	/* of one to a member function the first word tells which */
	uint64_t size = n->size < 8 ? n->size : 8, u;

	if (read_uint(v, n->off, size, &u))
		put_format(r->out, "\"0x%" PRIx64 "\"", u);
	else
		put_missing(r, v, n->off, size);
}

static void
render_char(struct render *r, const struct desc_node *n, const struct view *v)
{
	char s[4];
	uint64_t u;

	if (!read_uint(v, n->off, n->size, &u))
		put_missing(r, v, n->off, n->size);
	else if (u < 0x80) {
		s[0] = (char)u;
		render_string(r->out, s, 1, false);
	} else if (u > 0x10ffff || (u >= 0xd800 && u < 0xe000))
		put_format(r->out, "\"\\\\u{%" PRIx64 "}\"", u);
	else if (u > 0xffff)
		put_format(r->out, "\"\\u%04x\\u%04x\"",
		    (unsigned int)(0xd800 + ((u - 0x10000) >> 10)),
		    (unsigned int)(0xdc00 + ((u - 0x10000) & 0x3ff)));
	else
		put_format(r->out, "\"\\u%04x\"", (unsigned int)u);
}

/* No string at NULL; at an address where nothing is, the address. */
static void
render_text(struct render *r, const struct desc_node *n, const struct view *v)
{
	const struct got *g = got_of(r, n->step);
	uint64_t u = 0;

	if (read_uint(v, n->off, 8, &u) && u == 0)
		put_word(r->out, "null");
	else if (g->status == CAP_OK || g->status == CAP_CUT)
		render_string(r->out, (const char *)g->p, g->len,
		    g->status == CAP_CUT);
	else
		put_format(r->out, "\"0x%" PRIx64 "\"", u);
}

static void
render_counted(struct render *r, const struct desc_node *n)
{
	const struct got *g = got_of(r, n->step);

	if ((g->status != CAP_OK && g->status != CAP_CUT) || g->len < 8)
		put_word(r->out, UNREADABLE);
	else
		render_string(r->out, (const char *)g->p + 8, g->len - 8,
		    g->status == CAP_CUT);
}

static void
render_chars(struct render *r, const struct desc_node *n, const struct view *v)
{
	size_t len = n->size < CAPTURE_STRING ? n->size : CAPTURE_STRING;

	if (!is_there(v, n->off, len)) {
		put_missing(r, v, n->off, len);
		return;
	}
	render_string(r->out, (const char *)v->p + n->off,
	    strnlen((const char *)v->p + n->off, len), n->size > len);
}

static uint64_t
enum_value(const struct desc_enum *e)
{
	return e->low | (uint64_t)e->high << 32;
}

static void
render_enum(struct render *r, const struct desc_node *n, const struct view *v)
{
	const struct desc_enum *e = r->d->enums + n->enum_first;
	struct desc_node plain = *n;
	uint64_t u, mask;
	size_t i;

	plain.kind = n->flags & DESC_SIGNED ? DESC_SINT : DESC_UINT;
	mask = n->size < 8 ? (1ULL << (n->size * 8)) - 1 : UINT64_MAX;
	if (n->flags & DESC_BITS || !read_uint(v, n->off, n->size, &u)) {
		render_int(r, &plain, v);
		return;
	}
	for (i = 0; i < n->enum_count; i++)
		if ((enum_value(&e[i]) & mask) == u) {
			put_name(r->out, r->d->strs + e[i].name);
			return;
		}
	render_int(r, &plain, v);
}

static void
render_nested(struct render *r, const struct desc_node *n)
{
	const char *type = r->d->strs + n->type;

	put_word(r->out, "\"<");
	put_chars(r->out, type, strlen(type), false);
	if (r->addr != 0)
		put_format(r->out, " at 0x%" PRIx64, r->addr + n->off);
	put_word(r->out, ">\"");
}

static void	render_node(struct render *, size_t, const struct view *, int);

static void
render_elements(struct render *r, size_t node, const struct view *v,
    size_t count, size_t size, int depth)
{
	struct view one = { .len = size };
	size_t i;

	put_word(r->out, "[");
	for (i = 0; i < count && i < CAPTURE_ELEMENTS; i++) {
		if (i > 0)
			put_word(r->out, ",");
		one.p = v->p + i * size;
		one.have = v->have == NULL ? NULL : v->have + i * size;
		render_node(r, node, &one, depth + 1);
	}
	put_word(r->out, "]");
}

static void
render_slice(struct render *r, const struct desc_node *n, int depth)
{
	const struct got *g = got_of(r, n->step);
	struct view v = { .p = g->p, .len = g->len };

	if ((g->status != CAP_OK && g->status != CAP_CUT) || g->len < 8 ||
	    n->size == 0) {
		put_word(r->out, UNREADABLE);
		return;
	}
	v.p += 8;
	v.len -= 8;
	/* elements have no address of their own here */
	r->addr = 0;
	render_elements(r, n->first, &v, v.len / n->size, n->size, depth);
}

static void
render_array(struct render *r, const struct desc_node *n,
    const struct view *v, int depth)
{
	uint64_t size = r->d->nodes[n->first].size;
	struct view inside;

	if (size == 0 || !is_there(v, n->off, 0)) {
		put_word(r->out, UNREADABLE);
		return;
	}
	inside = (struct view) { v->p + n->off,
	    v->have == NULL ? NULL : v->have + n->off, v->len - n->off };
	render_elements(r, n->first, &inside,
	    n->count < inside.len / size ? n->count : inside.len / size,
	    size, depth);
}

static void
render_fields(struct render *r, const struct desc_node *n,
    const struct view *v, bool names, int depth)
{
	size_t i;

	put_word(r->out, names ? "{" : "[");
	for (i = 0; i < n->count; i++) {
		if (i > 0)
			put_word(r->out, ",");
		if (names) {
			put_name(r->out, r->d->strs +
			    r->d->nodes[n->first + i].name);
			put_word(r->out, ":");
		}
		render_node(r, n->first + i, v, depth + 1);
	}
	put_word(r->out, names ? "}" : "]");
}

static void
render_variant(struct render *r, const struct desc_node *n,
    const struct view *v, int depth)
{
	if (n->count > 0)
		put_word(r->out, "{");
	put_name(r->out, r->d->strs + n->name);
	if (n->count == 0)
		return;
	put_word(r->out, ":");
	if (n->flags & DESC_UNNAMED && n->count == 1)
		render_node(r, n->first, v, depth + 1);
	else
		render_fields(r, n, v, !(n->flags & DESC_UNNAMED), depth);
	put_word(r->out, "}");
}

static void
render_variants(struct render *r, const struct desc_node *n,
    const struct view *v, int depth)
{
	const struct desc_node *c, *other = NULL;
	uint64_t u = 0, mask;
	size_t i;

	if (n->size != 0 && !read_uint(v, n->off, n->size, &u)) {
		put_missing(r, v, n->off, n->size);
		return;
	}
	mask = n->size < 8 ? (1ULL << (n->size * 8)) - 1 : UINT64_MAX;
	for (i = 0; i < n->count; i++) {
		c = &r->d->nodes[n->first + i];
		if (c->kind != DESC_VARIANT)
			break;
		if (c->flags & DESC_DEFAULT || n->size == 0)
			other = c;
		else if (c->enum_count > 0 &&
		    (enum_value(&r->d->enums[c->enum_first]) &
		    mask) == u) {
			other = c;
			break;
		}
	}
	if (other == NULL)
		put_format(r->out, "\"<variant %" PRIu64 ">\"", u);
	else
		render_variant(r, other, v, depth);
}

static void
render_node(struct render *r, size_t i, const struct view *v, int depth)
{
	const struct desc_node *n = &r->d->nodes[i];

	if (depth > DEPTH_MAX || r->visits++ > VISITS_MAX) {
		put_word(r->out, LOST);
		return;
	}
	switch (n->kind) {
	case DESC_NULL:
		put_word(r->out, "null");
		break;
	case DESC_SINT:
	case DESC_UINT:
	case DESC_BOOL:
		render_int(r, n, v);
		break;
	case DESC_FLOAT:
		render_float(r, n, v);
		break;
	case DESC_CHAR:
		render_char(r, n, v);
		break;
	case DESC_POINTER:
		render_pointer(r, n, v);
		break;
	case DESC_STRING:
		render_text(r, n, v);
		break;
	case DESC_CHARS:
		render_chars(r, n, v);
		break;
	case DESC_TEXT:
		render_counted(r, n);
		break;
	case DESC_SLICE:
		render_slice(r, n, depth);
		break;
	case DESC_ARRAY:
		render_array(r, n, v, depth);
		break;
	case DESC_ENUM:
		render_enum(r, n, v);
		break;
	case DESC_STRUCT:
	case DESC_TUPLE:
		render_fields(r, n, v, n->kind == DESC_STRUCT, depth);
		break;
	case DESC_NESTED:
		render_nested(r, n);
		break;
	case DESC_VARIANTS:
		render_variants(r, n, v, depth);
		break;
	default:
		put_word(r->out, LOST);
		break;
	}
}

static void
render_value(struct render *r, const struct desc_value *val)
{
	uint8_t image[DESC_IMAGE_MAX], have[DESC_IMAGE_MAX] = { HAVE_NOT };
	struct view v = { image, have, sizeof(image) };
	const struct desc_part *p = r->d->parts + val->part;
	const struct got *g;
	size_t i, n;

	for (i = 0; i < val->nparts; i++, p++) {
		if (p->step == DESC_CONSTANT) {
			memcpy(image + p->off, r->d->strs + p->step_off, p->len);
			memset(have + p->off, HAVE, p->len);
			continue;
		}
		memset(have + p->off, HAVE_FAILED, p->len);
		g = got_of(r, p->step);
		if (g->p == NULL || p->step_off > g->len)
			continue;
		n = g->len - p->step_off < p->len ? g->len - p->step_off :
		    p->len;
		memcpy(image + p->off, g->p + p->step_off, n);
		memset(have + p->off, HAVE, n);
	}
	r->addr = 0;
	g = got_of(r, val->addr_step);
	if (g->len == 8) {
		memcpy(&r->addr, g->p, sizeof(r->addr));
		r->addr += (uint64_t)(int64_t)val->addr_off;
	}
	render_node(r, val->node, &v, 0);
}

void
render_args(const struct desc *d, const struct capture *steps, size_t nsteps,
    const void *p, size_t len, struct render_out *o)
{
	struct render r = { .d = d, .out = o };
	size_t i;

	collect(&r, steps, nsteps, p, len);
	put_word(o, "[");
	for (i = 0; i < d->head->nargs; i++) {
		if (i > 0)
			put_word(o, ",");
		render_value(&r, &d->values[i]);
	}
	put_word(o, "]");
}

void
render_result(const struct desc *d, const struct capture *steps,
    size_t nsteps, const void *p, size_t len, struct render_out *o)
{
	struct render r = { .d = d, .out = o };

	collect(&r, steps, nsteps, p, len);
	if (d->head->nresults == 0)
		put_word(o, "null");
	else
		render_value(&r, &d->values[d->head->nargs]);
}
