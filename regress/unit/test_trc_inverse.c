/* SPDX-License-Identifier: ISC */
/* links: timeline/values/desc.c timeline/values/render.c timeline/values/inverse.c timeline/store/pack.c timeline/store/segment.c */
/*
 * Compares the captures that a value is looked up by with what captures are
 * shown as: a capture that is shown as the value has a key that is not ruled
 * out, and where a key is said to be enough, its capture is shown as the value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/store/segment.h"
#include "timeline/values/inverse.h"

#define TAG	0x1234567890abcdefU
#define NAMES	"\0red\0green\0a\\x41"

struct shape {
	struct desc_header h;
	struct desc_value v;
	struct desc_part p;
	struct desc_node n[2];
	struct desc_enum e[4];
	char strs[sizeof(NAMES)];
};

static const struct {
	uint8_t	 kind;
	uint32_t size;
	uint16_t len, flags;		/* of the capture, of the node */
} kinds[] = {
	{ DESC_SINT, 1, 1, 0 }, { DESC_SINT, 2, 2, 0 }, { DESC_SINT, 4, 4, 0 },
	{ DESC_SINT, 4, 8, 0 }, { DESC_SINT, 8, 8, 0 }, { DESC_UINT, 1, 1, 0 },
	{ DESC_UINT, 4, 4, 0 }, { DESC_UINT, 2, 8, 0 }, { DESC_UINT, 8, 8, 0 },
	{ DESC_BOOL, 1, 1, 0 }, { DESC_FLOAT, 4, 4, 0 },
	{ DESC_FLOAT, 8, 8, 0 }, { DESC_CHAR, 1, 1, 0 }, { DESC_CHAR, 4, 4, 0 },
	{ DESC_POINTER, 8, 8, 0 }, { DESC_ENUM, 4, 4, 0 },
	{ DESC_ENUM, 1, 1, DESC_SIGNED }, { DESC_ENUM, 4, 8, DESC_SIGNED },
	{ DESC_SINT, 8, 8, DESC_BITS }, { DESC_STRING, 8, 8, 0 },
	{ DESC_TEXT, 0, 0, 0 }, { DESC_NULL, 0, 8, 0 },
};
#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static uint32_t seed = 5;

static uint32_t
chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void
open_shape(struct desc *d, size_t k, struct capture steps[2], size_t *nsteps)
{
	static struct shape s;

	s = (struct shape){ .h = { .magic = DESC_MAGIC, .nresults = 1,
		.nparts = 1, .nnodes = 2, .nenums = 4,
		.strs_len = sizeof(s.strs) },
		.v = { .nparts = 1, .addr_step = DESC_NONE },
		.p = { .len = 8 }, .strs = NAMES };
	s.n[0] = (struct desc_node){ .kind = kinds[k].kind,
		.flags = (uint8_t)kinds[k].flags, .size = kinds[k].size,
		.enum_count = 4, .step = kinds[k].kind == DESC_TEXT ? 0 : 1,
		.bit_off = 3, .bit_size = 9 };
	s.e[0] = (struct desc_enum){ 1, 0, 1 };
	s.e[1] = (struct desc_enum){ 2, 0, 5 };
	s.e[2] = (struct desc_enum){ 3, 0, 5 };		/* "green" once more */
	s.e[3] = (struct desc_enum){ 4, 0, 11 };
	assert_int_equal(desc_open(d, &s, offsetof(struct shape, strs) +
	    sizeof(s.strs)), 0);
	steps[0] = (struct capture){ .op = CAP_REG,
		.len = kinds[k].len == 0 ? 8 : kinds[k].len };
	steps[1] = (struct capture){ .op = CAP_STRING, .len = 1024 };
	if (kinds[k].kind == DESC_TEXT)
		steps[0] = (struct capture){ .op = CAP_SLICE, .len = 1024,
			.scale = 1 };
	*nsteps = kinds[k].kind == DESC_STRING ? 2 : 1;
}

/* -- captures ------------------------------------------------------------- */
static size_t
put(uint8_t *raw, const void *bytes, size_t len)
{
	const struct captured c = { CAP_OK, (uint16_t)len };

	memcpy(raw, &c, sizeof(c));
	memset(raw + sizeof(c), 0, (len + 3) & ~(size_t)3);
	memcpy(raw + sizeof(c), bytes, len);
	return captured_size(len);
}

static uint64_t
some_word(void)
{
	static const double doubles[] = { 1, -1, 3, 0.1, 1e22, -0.0, 1e300,
		9007199254740993.0, 2.5 };
	static const float floats[] = { 1, 0.1F, -3, 16777217.0F, 2.5F };
	uint64_t u = 0;

	switch (chance(6)) {
	case 0:
		return chance(6);
	case 1:
		return (uint64_t)-(int64_t)chance(200);
	case 2:
		memcpy(&u, &doubles[chance(9)], 8);
		return u;
	case 3:
		memcpy(&u, &floats[chance(5)], 4);
		return u;
	case 4:
		return (uint64_t)chance(1 << 24) << chance(40);
	default:
		return UINT64_C(0x7ff8000000000000) << chance(2);
	}
}

static size_t
some_text(char *s)
{
	static const char *const texts[] = { "", "a", "red", "0x1", "null",
		"12345678", "123456789", "\xc3\xa9", "\xff\xfe", "a\\xffb",
		"line\nline", "\"quoted\"", "a longer one than eight" };
	const char *t = texts[chance(sizeof(texts) / sizeof(texts[0]))];

	memcpy(s, t, strlen(t));
	return strlen(t);
}

static size_t
some_capture(size_t k, uint8_t raw[200])
{
	uint64_t u = some_word(), n;
	char text[100];
	size_t len;

	if (kinds[k].kind == DESC_TEXT) {
		len = some_text(text + 8);
		n = len;
		memcpy(text, &n, 8);
		return put(raw, text, len + 8);
	}
	len = put(raw, &u, kinds[k].len);
	if (kinds[k].kind == DESC_STRING) {
		u |= 4096;		/* nothing can be read at NULL */
		len = put(raw, &u, 8);
		n = some_text(text);
		len += put(raw + len, text, n);
	}
	return len;
}

/* -- values --------------------------------------------------------------- */
/* As query_value.c reads one. */
static void
read_value(struct json_object *o, struct store_value *v)
{
	*v = (struct store_value){ .type = STORE_COMPOUND };
	switch (json_object_get_type(o)) {
	case json_type_null:
		v->type = STORE_NULL;
		break;
	case json_type_boolean:
		v->type = STORE_BOOL;
		v->truth = json_object_get_boolean(o);
		break;
	case json_type_string:
		v->type = STORE_STRING;
		v->s = json_object_get_string(o);
		v->len = (size_t)json_object_get_string_len(o);
		break;
	case json_type_int:
		v->type = STORE_INTEGER;
		v->negative = json_object_get_int64(o) < 0;
		v->integer = v->negative ? (uint64_t)json_object_get_int64(o) :
		    json_object_get_uint64(o);
		v->real = json_object_get_double(o);
		break;
	case json_type_double:
		v->type = STORE_REAL;
		v->real = json_object_get_double(o);
		break;
	default:
		break;
	}
}

static char *
shown(const struct desc *d, const struct capture *steps, size_t nsteps,
    const uint8_t *raw, size_t len)
{
	struct render_out o = { 0 };
	char *s;

	render_result(d, steps, nsteps, raw, len, &o);
	s = strndup(o.buf, o.len);
	free(o.buf);
	return s;
}

/* Whether a key can be that of the value; *sure: that is all there is to it. */
static bool
follows(const struct store_inverse *inv, uint64_t key, bool *sure)
{
	*sure = inv->found == FOUND_WORD && inv->exact;
	switch (inv->found) {
	case FOUND_NEVER:
		return false;
	case FOUND_WORD:
		return (key & inv->mask) == inv->wanted;
	case FOUND_BYTES:
		return key == seg_key_of(inv->bytes, inv->len, TAG);
	default:
		return true;
	}
}

/* The value of one capture looked for in another. */
static void
try_pair(size_t k)
{
	uint8_t a[200], b[200];
	size_t nsteps, alen, blen;
	struct capture steps[2];
	struct store_inverse inv;
	struct json_object *va, *vb;
	struct store_value v;
	struct desc d;
	char *sa, *sb;
	uint64_t key;
	bool same, sure;

	open_shape(&d, k, steps, &nsteps);
	alen = some_capture(k, a);
	blen = some_capture(k, b);
	sa = shown(&d, steps, nsteps, a, alen);
	sb = shown(&d, steps, nsteps, b, blen);
	va = json_tokener_parse(sa);
	vb = json_tokener_parse(sb);
	same = json_object_equal(va, vb) != 0;
	read_value(va, &v);
	inverse_of(&d, steps, nsteps, &v, &inv);
	/* what has no key is shown each time */
	if ((key = seg_key(b, blen, TAG)) != 0) {
		if (same && !follows(&inv, key, &sure))
			fail_msg("kind %zu: %s is not found", k, sb);
		if (!same && follows(&inv, key, &sure) && sure)
			fail_msg("kind %zu: %s is taken for %s", k, sb, sa);
	}
	json_object_put(va);
	json_object_put(vb);
	free(sa);
	free(sb);
	desc_close(&d);
}

static void
what_is_shown_is_found(void **state)
{
	size_t k;
	int i;

	(void)state;
	for (k = 0; k < KINDS; k++)
		for (i = 0; i < 3000; i++)
			try_pair(k);
}

static void
others_are_never(void **state)
{
	static const struct {
		const char *json;
		size_t kind;
		enum store_found found;
	} rows[] = {
		{ "\"3\"", 2, FOUND_NEVER }, { "true", 2, FOUND_NEVER },
		{ "null", 2, FOUND_NEVER }, { "2147483648", 2, FOUND_NEVER },
		{ "-2147483648", 2, FOUND_WORD }, { "256", 5, FOUND_NEVER },
		{ "-1", 5, FOUND_NEVER }, { "18446744073709551615", 4,
		    FOUND_NEVER }, { "18446744073709551615", 8, FOUND_WORD },
		{ "2.5", 4, FOUND_NEVER }, { "1e300", 4, FOUND_PERHAPS },
		{ "1", 9, FOUND_NEVER }, { "true", 9, FOUND_PERHAPS },
		{ "\"0x10\"", 14, FOUND_WORD }, { "\"0X10\"", 14, FOUND_NEVER },
		{ "\"0x010\"", 14, FOUND_NEVER }, { "16", 14, FOUND_NEVER },
		{ "\"red\"", 15, FOUND_WORD }, { "\"green\"", 15,
		    FOUND_PERHAPS }, { "\"blue\"", 15, FOUND_NEVER },
		{ "\"text\"", 19, FOUND_BYTES }, { "null", 19, FOUND_NEVER },
		{ "\"text\"", 20, FOUND_BYTES }, { "7", 20, FOUND_NEVER },
	};
	struct store_inverse inv;
	struct capture steps[2];
	struct json_object *o;
	struct store_value v;
	struct desc d;
	size_t nsteps, i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_shape(&d, rows[i].kind, steps, &nsteps);
		o = json_tokener_parse(rows[i].json);
		read_value(o, &v);
		inverse_of(&d, steps, nsteps, &v, &inv);
		if (inv.found != rows[i].found)
			fail_msg("%s: %d", rows[i].json, inv.found);
		json_object_put(o);
		desc_close(&d);
	}
}

static void
without_a_description(void **state)
{
	const struct capture reg = { .op = CAP_REG, .len = 8 };
	struct store_value v = { .type = STORE_STRING, .s = "0x2a", .len = 4 };
	struct store_inverse inv;

	(void)state;
	inverse_of(NULL, &reg, 1, &v, &inv);
	assert_int_equal(inv.found, FOUND_WORD);
	assert_int_equal(inv.wanted, 42);
	inverse_of(NULL, NULL, 0, &v, &inv);
	assert_int_equal(inv.found, FOUND_PERHAPS);
	v.type = STORE_INTEGER;
	inverse_of(NULL, &reg, 1, &v, &inv);
	assert_int_equal(inv.found, FOUND_NEVER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_shown_is_found),
		cmocka_unit_test(others_are_never),
		cmocka_unit_test(without_a_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
