/* SPDX-License-Identifier: ISC */
/* An index that lies is told from one that does not; so is a description. */
/* links: tracer/syms/symindex.c tracer/syms/symcache.c timeline/values/desc.c timeline/values/render.c */
#include <sys/mman.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "timeline/values/render.h"
#include "tracer/syms/symcache.h"
#include "tracer/syms/symindex.h"

#define STRS	"\0one\0two\0file.c"

struct file {
	struct sym_header h;
	struct sym_func f[3];
	char strs[sizeof(STRS)];
};

static void
make(struct file *x)
{
	memset(x, 0, sizeof(*x));
	memcpy(x->strs, STRS, sizeof(STRS));
	x->h = (struct sym_header) { .magic = SYM_MAGIC, .nfuncs = 3,
	    .size = sizeof(x->h) + sizeof(x->f) + sizeof(STRS),
	    .strs_off = sizeof(x->h) + sizeof(x->f),
	    .strs_len = sizeof(STRS) };
	x->f[0] = (struct sym_func) { .name = 1, .raw = 1,
	    .flags = SYM_INLINED };
	x->f[1] = (struct sym_func) { .addr = 0x1000, .size = 16, .name = 5,
	    .raw = 5, .file = 9, .line = 3 };
	x->f[2] = (struct sym_func) { .addr = 0x2000, .name = 1, .raw = 1 };
}

static int
look(const struct file *x, char *why)
{
	struct symindex ix;

	return symindex_check(&ix, x, x->h.size, why, 200);
}

static void
a_good_index_is_read(void **state)
{
	struct symindex ix;
	struct file x;
	char why[200];

	(void)state;
	make(&x);
	assert_int_equal(symindex_check(&ix, &x, x.h.size, why, sizeof(why)),
	    0);
	assert_string_equal(symindex_str(&ix, ix.funcs[1].name), "two");
	assert_string_equal(symindex_str(&ix, ix.funcs[1].file), "file.c");
	assert_string_equal(symindex_str(&ix, 4000), "");
	assert_ptr_equal(symindex_at(&ix, 0x1000), &ix.funcs[1]);
	assert_ptr_equal(symindex_at(&ix, 0x100f), &ix.funcs[1]);
	assert_null(symindex_at(&ix, 0x1010));
	assert_null(symindex_at(&ix, 0xfff));
	assert_ptr_equal(symindex_at(&ix, 0x2000), &ix.funcs[2]);
	assert_null(symindex_at(&ix, 0x2001));
	assert_null(symindex_at(&ix, 0));
}

static void
lies(struct file *x)
{
	char why[200] = "";

	assert_int_equal(look(x, why), -1);
	assert_non_null(strstr(why, "damaged"));
	make(x);
}

static void
each_lie_is_found(void **state)
{
	struct file x;
	char why[200];
	struct symindex ix;

	(void)state;
	make(&x);
	x.h.magic++;
	lies(&x);
	x.h.nfuncs = 4;
	lies(&x);
	x.h.nfuncs = UINT32_MAX;
	lies(&x);
	x.h.strs_off--;
	lies(&x);
	x.h.strs_len = 0;
	lies(&x);
	x.h.build_id_len = SYM_BUILD_ID + 1;
	lies(&x);
	x.f[1].name = sizeof(STRS);
	lies(&x);
	x.f[1].raw = UINT32_MAX;
	lies(&x);
	x.f[2].file = sizeof(STRS);
	lies(&x);
	x.f[2].name = 0;
	lies(&x);
	x.h.strs_len = 6;
	x.f[1].file = 0;
	x.h.size = x.h.strs_off + 6;
	lies(&x);
	x.f[1].addr = 0x3000;
	lies(&x);
	x.f[1].size = UINT64_MAX;
	lies(&x);
	x.strs[sizeof(STRS) - 1] = 'x';
	lies(&x);
	x.strs[0] = 'x';
	lies(&x);
	assert_int_equal(look(&x, why), 0);
	assert_int_equal(symindex_check(&ix, &x, x.h.size - 1, why,
	    sizeof(why)), -1);
	assert_int_equal(symindex_check(&ix, &x, 8, why, sizeof(why)), -1);
	assert_int_equal(symindex_check(&ix, (char *)&x + 1, x.h.size, why,
	    sizeof(why)), -1);
}

/* An index that could still change is copied before it is checked. */
static void
only_sealed_files_are_mapped(void **state)
{
	struct symindex ix;
	struct file x;
	char why[200];
	int fd = memfd_create("x", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	(void)state;
	make(&x);
	assert_int_equal(write(fd, &x, x.h.size), x.h.size);
	assert_int_equal(symindex_open(&ix, fd, why, sizeof(why)), 0);
	assert_false(ix.mapped);
	assert_int_equal(pwrite(fd, "Z", 1, 0), 1);
	assert_int_equal(ix.header->magic, SYM_MAGIC);
	symindex_close(&ix);
	assert_int_equal(symindex_open(&ix, fd, why, sizeof(why)), -1);
	assert_int_equal(pwrite(fd, &x, 1, 0), 1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE), 0);
	assert_int_equal(symindex_open(&ix, fd, why, sizeof(why)), 0);
	assert_true(ix.mapped);
	symindex_close(&ix);
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(symindex_open(&ix, fd, why, sizeof(why)), -1);
	close(fd);
}

static int
some_fd(void)
{
	return memfd_create("x", MFD_CLOEXEC);
}

static void
indexes_are_kept_by_build_id_and_size(void **state)
{
	char id[16];
	int fd = some_fd(), i;

	(void)state;
	symcache_put("aa", 10, fd);
	assert_int_equal(symcache_get("aa", 10), fd);
	assert_int_equal(symcache_get("aa", 11), -1);
	assert_int_equal(symcache_get("ab", 10), -1);
	symcache_put("", 10, some_fd());
	assert_int_equal(symcache_get("", 10), -1);
	for (i = 0; i < SYMCACHE_MAX - 1; i++) {
		(void)snprintf(id, sizeof(id), "%x", i);
		symcache_put(id, 1, some_fd());
		assert_int_equal(symcache_get("aa", 10), fd);
	}
	symcache_put("new", 1, some_fd());
	assert_int_equal(symcache_get("0", 1), -1);
	assert_int_equal(symcache_get("aa", 10), fd);
	symcache_clear();
	assert_int_equal(symcache_get("aa", 10), -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* -- values --------------------------------------------------------------- */

struct text {
	struct desc_header h;
	struct desc_value v;
	struct desc_part p;
	struct desc_node n[2];
	struct desc_enum e;
	char strs[16];
};

static void
make_text(struct text *t, enum desc_kind kind, unsigned int size)
{
	memset(t, 0, sizeof(*t));
	t->h = (struct desc_header) { .magic = DESC_MAGIC, .nargs = 1,
	    .nparts = 1, .nnodes = 2, .nenums = 1, .strs_len = 16,
	    .return_type = 1 };
	t->v = (struct desc_value) { .nparts = 1, .addr_step = DESC_NONE };
	t->p = (struct desc_part) { .len = 8 };
	t->n[0] = (struct desc_node) { .kind = (uint8_t)kind,
	    .size = size, .step = 1, .first = 1, .count = 1, .name = 1,
	    .type = 1 };
	t->n[1] = (struct desc_node) { .kind = DESC_UINT, .size = 1,
	    .step = DESC_NONE, .name = 5 };
	t->e = (struct desc_enum) { .low = 3, .name = 5 };
	memcpy(t->strs, "\0one\0two\0......", 16);
}

static char *
show_bytes(struct text *t, const void *bytes, size_t len)
{
	struct capture steps[2] = { { .op = CAP_REG, .len = 8 },
	    { .op = CAP_STRING, .len = 1024 } };
	static struct render_out o;
	struct desc d;

	free(o.buf);
	memset(&o, 0, sizeof(o));
	assert_int_equal(desc_open(&d, t, sizeof(*t)), 0);
	render_args(&d, steps, 2, bytes, len, &o);
	assert_false(o.bad);
	desc_close(&d);
	o.buf = realloc(o.buf, o.len + 1);
	o.buf[o.len] = '\0';
	return o.buf;
}

/* Shows a step of 8 bytes, and a string. */
static char *
show(enum desc_kind kind, unsigned int size, uint64_t value, const char *s,
    size_t len, unsigned int status)
{
	struct captured a = { CAP_OK, 8 };
	struct captured b = { (uint16_t)status, (uint16_t)len };
	char buf[2048] = { 0 };
	struct text t;

	make_text(&t, kind, size);
	if (kind == DESC_ENUM) {
		t.n[0].enum_count = 1;
		t.n[0].flags = DESC_SIGNED;
	}
	memcpy(buf, &a, 4);
	memcpy(buf + 4, &value, 8);
	memcpy(buf + 12, &b, 4);
	if (len > 0)
		memcpy(buf + 16, s, len);
	return show_bytes(&t, buf, 16 + ((len + 3) & ~3UL));
}

static uint64_t
bits(double d)
{
	uint64_t u;

	memcpy(&u, &d, 8);
	return u;
}

static void
scalars_are_json(void **state)
{
	(void)state;
	assert_string_equal(show(DESC_SINT, 4, 0xffffffff, "", 0, 0), "[-1]");
	assert_string_equal(show(DESC_UINT, 4, 0xffffffff, "", 0, 0),
	    "[4294967295]");
	assert_string_equal(show(DESC_SINT, 8, 1ULL << 63, "", 0, 0),
	    "[-9223372036854775808]");
	assert_string_equal(show(DESC_BOOL, 1, 2, "", 0, 0), "[true]");
	assert_string_equal(show(DESC_BOOL, 1, 0x100, "", 0, 0), "[false]");
	assert_string_equal(show(DESC_FLOAT, 8, bits(0.1), "", 0, 0), "[0.1]");
	assert_string_equal(show(DESC_FLOAT, 8, bits(1.0 / 3), "", 0, 0),
	    "[0.3333333333333333]");
	assert_string_equal(show(DESC_FLOAT, 4, 0x3dcccccd, "", 0, 0),
	    "[0.1]");
	assert_string_equal(show(DESC_FLOAT, 8, 0x7ff0000000000000, "", 0, 0),
	    "[\"Infinity\"]");
	assert_string_equal(show(DESC_FLOAT, 8, 0x7ff8000000000000, "", 0, 0),
	    "[\"NaN\"]");
	assert_string_equal(show(DESC_CHAR, 4, 0x1f600, "", 0, 0),
	    "[\"\\ud83d\\ude00\"]");
	assert_string_equal(show(DESC_CHAR, 4, 0xd800, "", 0, 0),
	    "[\"\\\\u{d800}\"]");
	assert_string_equal(show(DESC_POINTER, 8, 0x7fff5fbff8c0, "", 0, 0),
	    "[\"0x7fff5fbff8c0\"]");
	assert_string_equal(show(DESC_ENUM, 2, 3, "", 0, 0), "[\"two\"]");
	assert_string_equal(show(DESC_ENUM, 2, 0xffff, "", 0, 0), "[-1]");
	assert_string_equal(show(DESC_NESTED, 8, 3, "", 0, 0), "[\"<one>\"]");
	assert_string_equal(show(DESC_LOST, 8, 3, "", 0, 0),
	    "[\"<optimized out>\"]");
	assert_string_equal(show(DESC_CHARS, 8, 0x636261, "", 0, 0),
	    "[\"abc\"]");
}

static void
strings_stay_whole(void **state)
{
	(void)state;
	assert_string_equal(show(DESC_STRING, 8, 1, "a\"\\\n\x01", 5, CAP_OK),
	    "[\"a\\\"\\\\\\n\\u0001\"]");
	assert_string_equal(show(DESC_STRING, 8, 1, "\xc3\xa9", 2, CAP_OK),
	    "[\"\xc3\xa9\"]");
	/* cut in the middle of a character, or broken there */
	assert_string_equal(show(DESC_STRING, 8, 1, "ab\xc3", 3, CAP_CUT),
	    "[\"ab\"]");
	assert_string_equal(show(DESC_STRING, 8, 1, "ab\xc3", 3, CAP_OK),
	    "[\"ab\\\\xc3\"]");
	assert_string_equal(show(DESC_STRING, 8, 1, "\xff\xc0\x80\xed\xa0\x80",
	    6, CAP_OK), "[\"\\\\xff\\\\xc0\\\\x80\\\\xed\\\\xa0\\\\x80\"]");
	assert_string_equal(show(DESC_STRING, 8, 0, "", 0, CAP_FAULT),
	    "[null]");
	assert_string_equal(show(DESC_STRING, 8, 0x10, "", 0, CAP_FAULT),
	    "[\"0x10\"]");
	assert_string_equal(show(DESC_TEXT, 8, 1, "12345678xy", 10, CAP_OK),
	    "[\"xy\"]");
	assert_string_equal(show(DESC_TEXT, 8, 1, "", 0, CAP_FAULT),
	    "[\"<unreadable>\"]");
	assert_string_equal(show(DESC_SLICE, 1, 1, "12345678\1\2\3", 11,
	    CAP_OK), "[[1,2,3]]");
}

static void
what_is_missing_is_said(void **state)
{
	struct captured fault = { CAP_FAULT, 0 };
	struct text t;

	(void)state;
	make_text(&t, DESC_UINT, 4);
	assert_string_equal(show_bytes(&t, "", 0), "[\"<unreadable>\"]");
	assert_string_equal(show_bytes(&t, &fault, 4), "[\"<unreadable>\"]");
	assert_string_equal(show_bytes(&t, "\0\0\377\377abc", 7),
	    "[\"<unreadable>\"]");
}

static void
refuses(struct text *t)
{
	struct desc d;

	assert_int_equal(desc_open(&d, t, sizeof(*t)), -1);
	make_text(t, DESC_STRUCT, 4);
}

static void
a_description_may_not_lie(void **state)
{
	struct desc d;
	struct text t;

	(void)state;
	make_text(&t, DESC_STRUCT, 4);
	t.h.magic++;
	refuses(&t);
	t.h.nnodes++;
	refuses(&t);
	t.h.nresults = 2;
	refuses(&t);
	t.h.strs_len++;
	refuses(&t);
	t.h.return_type = 16;
	refuses(&t);
	t.v.node = 2;
	refuses(&t);
	t.v.part = 1;
	refuses(&t);
	t.p.off = DESC_IMAGE_MAX;
	refuses(&t);
	t.n[0].kind = DESC_KINDS;
	refuses(&t);
	t.n[0].first = 0;
	refuses(&t);
	t.n[0].count = 2;
	refuses(&t);
	t.n[0].name = 16;
	refuses(&t);
	t.n[1].flags = DESC_BITS;
	t.n[1].bit_size = 65;
	refuses(&t);
	t.e.name = 16;
	refuses(&t);
	t.strs[15] = 'x';
	refuses(&t);
	assert_int_equal(desc_open(&d, &t, sizeof(t)), 0);
	assert_string_equal(desc_return_type(&d), "one");
	desc_close(&d);
	assert_int_equal(desc_open(&d, &t, sizeof(t) - 1), -1);
	assert_int_equal(desc_open(&d, &t, 3), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_index_is_read),
		cmocka_unit_test(each_lie_is_found),
		cmocka_unit_test(only_sealed_files_are_mapped),
		cmocka_unit_test(indexes_are_kept_by_build_id_and_size),
		cmocka_unit_test(scalars_are_json),
		cmocka_unit_test(strings_stay_whole),
		cmocka_unit_test(what_is_missing_is_said),
		cmocka_unit_test(a_description_may_not_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
