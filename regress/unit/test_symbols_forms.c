/* SPDX-License-Identifier: ISC */
/* Attributes in all forms, paths, and names as they were written. */
/* links: symbols/abbrev.c symbols/form.c symbols/unit.c symbols/image.c symbols/mem.c symbols/lines.c symbols/strs.c symbols/demangle.c symbols/loc.c symbols/sysfilter.c */
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sanitize.h"
#include "symbols/demangle.h"
#include "symbols/dw.h"
#include "symbols/index.h"
#include "symbols/lines.h"
#include "symbols/loc.h"
#include "symbols/sysfilter.h"
#include "symbols/unit.h"

/* -- forms ---------------------------------------------------------------- */

static const uint8_t strings[] = "zero\0five";
static const uint8_t numbers[] = {
	0, 0, 0, 0, 0, 0, 0, 0,			/* a header */
	0, 0, 0, 0, 5, 0, 0, 0,			/* string 0, string 1 */
};
static const uint8_t addresses[] = {
	0, 0, 0, 0, 0, 0, 0, 0,
	0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x00, 0x20, 0, 0, 0, 0, 0, 0,
};

struct form {
	unsigned int	 form;
	const char	*bytes;
	size_t		 len;
	enum val_class	 cls;
	uint64_t	 u;
	const char	*str;
};

#define F(form, bytes, cls, u, str)					\
	{ DW_FORM_##form, bytes, sizeof(bytes) - 1, cls, u, str }

static const struct form forms[] = {
	F(addr, "\1\2\0\0\0\0\0\0", VAL_ADDR, 0x201, NULL),
	F(data1, "\xff", VAL_UINT, 0xff, NULL),
	F(data2, "\1\2", VAL_UINT, 0x201, NULL),
	F(data4, "\1\2\3\4", VAL_UINT, 0x4030201, NULL),
	F(data8, "\1\0\0\0\0\0\0\x80", VAL_UINT, 0x8000000000000001, NULL),
	F(data16, "0123456789abcdef", VAL_BLOCK, 0, "0123456789abcdef"),
	F(udata, "\x80\x01", VAL_UINT, 128, NULL),
	F(sdata, "\x7f", VAL_SINT, UINT64_MAX, NULL),
	F(flag, "\1", VAL_UINT, 1, NULL),
	F(flag_present, "", VAL_UINT, 1, NULL),
	F(implicit_const, "", VAL_SINT, 77, NULL),
	F(string, "abc\0", VAL_STR, 0, "abc"),
	F(strp, "\5\0\0\0", VAL_STR, 0, "five"),
	F(line_strp, "\5\0\0\0", VAL_STR, 0, "five"),
	F(strx, "\1", VAL_STR, 0, "five"),
	F(strx1, "\1", VAL_STR, 0, "five"),
	F(strx2, "\1\0", VAL_STR, 0, "five"),
	F(strx3, "\1\0\0", VAL_STR, 0, "five"),
	F(strx4, "\1\0\0\0", VAL_STR, 0, "five"),
	F(GNU_str_index, "\1", VAL_STR, 0, "five"),
	F(addrx, "\1", VAL_ADDR, 0x2000, NULL),
	F(addrx1, "\1", VAL_ADDR, 0x2000, NULL),
	F(addrx2, "\1\0", VAL_ADDR, 0x2000, NULL),
	F(addrx3, "\1\0\0", VAL_ADDR, 0x2000, NULL),
	F(addrx4, "\1\0\0\0", VAL_ADDR, 0x2000, NULL),
	F(GNU_addr_index, "\1", VAL_ADDR, 0x2000, NULL),
	F(ref1, "\x10", VAL_REF, 0x110, NULL),
	F(ref2, "\x10\0", VAL_REF, 0x110, NULL),
	F(ref4, "\x10\0\0\0", VAL_REF, 0x110, NULL),
	F(ref8, "\x10\0\0\0\0\0\0\0", VAL_REF, 0x110, NULL),
	F(ref_udata, "\x10", VAL_REF, 0x110, NULL),
	F(ref_addr, "\x10\0\0\0", VAL_REF, 0x10, NULL),
	F(ref_sig8, "\1\0\0\0\0\0\0\0", VAL_SIG, 1, NULL),
	F(sec_offset, "\1\0\0\0", VAL_SECOFF, 1, NULL),
	F(loclistx, "\3", VAL_LISTX, 3, NULL),
	F(rnglistx, "\3", VAL_LISTX, 3, NULL),
	F(exprloc, "\2ab", VAL_BLOCK, 0, "ab"),
	F(block, "\2ab", VAL_BLOCK, 0, "ab"),
	F(block1, "\2ab", VAL_BLOCK, 0, "ab"),
	F(block2, "\2\0ab", VAL_BLOCK, 0, "ab"),
	F(block4, "\2\0\0\0ab", VAL_BLOCK, 0, "ab"),
	F(indirect, "\x0b\x07", VAL_UINT, 7, NULL),
	F(strp_sup, "\1\0\0\0", VAL_ELSEWHERE, 1, NULL),
	F(GNU_strp_alt, "\1\0\0\0", VAL_ELSEWHERE, 1, NULL),
	F(GNU_ref_alt, "\1\0\0\0", VAL_ELSEWHERE, 1, NULL),
	F(ref_sup4, "\1\0\0\0", VAL_ELSEWHERE, 1, NULL),
	F(ref_sup8, "\1\0\0\0\0\0\0\0", VAL_ELSEWHERE, 1, NULL),
};

static struct dwarf d = {
	.str = { strings, sizeof(strings) },
	.line_str = { strings, sizeof(strings) },
	.str_offsets = { numbers, sizeof(numbers) },
	.addr = { addresses, sizeof(addresses) },
};
static const struct unit unit = { .off = 0x100, .end = 0x200, .version = 5,
	.addr_size = 8, .off_size = 4, .str_base = 8, .addr_base = 8 };

static void
each_form_is_read_and_passed(void **state)
{
	const struct form *f;
	struct attr_spec a = { .implicit = 77 };
	struct cursor c;
	struct span s;
	struct val v;
	char buf[32];

	(void)state;
	for (f = forms; f < forms + sizeof(forms) / sizeof(*f); f++) {
		memset(buf, 0xee, sizeof(buf));
		memcpy(buf, f->bytes, f->len);
		s = (struct span) { (uint8_t *)buf, sizeof(buf) };
		a.form = (uint16_t)f->form;
		c = cur_at(&s, 0);
		form_read(&d, &unit, &c, &a, &v);
		if (c.bad || v.cls != f->cls ||
		    c.p != (uint8_t *)buf + f->len)
			fail_msg("form 0x%x: class %d, %td bytes", f->form,
			    (int)v.cls, c.p - (uint8_t *)buf);
		if (f->str == NULL)
			assert_int_equal(v.u, f->u);
		else {
			assert_int_equal(v.len, strlen(f->str));
			assert_memory_equal(v.p, f->str, v.len);
		}
		c = cur_at(&s, 0);
		form_skip(&unit, &c, f->form);
		if (c.bad || c.p != (uint8_t *)buf + f->len)
			fail_msg("form 0x%x is not passed", f->form);
	}
}

/* A form that is one byte short is reported; nothing beyond it is read. */
static void
what_is_cut_is_bad(void **state)
{
	const struct form *f;
	struct attr_spec a = { 0 };
	struct cursor c;
	struct span s;
	struct val v;
	uint8_t *p;

	(void)state;
	for (f = forms; f < forms + sizeof(forms) / sizeof(*f); f++) {
		if (f->len == 0)
			continue;
		p = malloc(f->len);
		memcpy(p, f->bytes, f->len);
		s = (struct span) { p, f->len - 1 };
		a.form = (uint16_t)f->form;
		c = cur_at(&s, 0);
		form_read(&d, &unit, &c, &a, &v);
		assert_true(c.bad);
		c = cur_at(&s, 0);
		form_skip(&unit, &c, f->form);
		assert_true(c.bad);
		free(p);
	}
}

static void
what_is_not_there_is_no_value(void **state)
{
	static const struct {
		unsigned int form;
		const char *bytes;
	} wrong[] = {
		{ DW_FORM_strp, "\xff\0\0\0" },
		{ DW_FORM_strp, "\xff\xff\xff\xff" },
		{ DW_FORM_strx, "\xff\xff\xff\x07" },
		{ DW_FORM_addrx4, "\xff\xff\xff\xff" },
	};
	struct attr_spec a = { 0 };
	struct cursor c;
	struct span s;
	struct val v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		s = (struct span) { (const uint8_t *)wrong[i].bytes, 4 };
		a.form = (uint16_t)wrong[i].form;
		c = cur_at(&s, 0);
		form_read(&d, &unit, &c, &a, &v);
		assert_int_equal(v.cls, VAL_NONE);
		assert_false(c.bad);
	}
	/* a reference out of its unit is to nowhere */
	s = (struct span) { (const uint8_t *)"\xff\xff\0\0", 4 };
	a.form = DW_FORM_ref4;
	c = cur_at(&s, 0);
	form_read(&d, &unit, &c, &a, &v);
	assert_true(v.u == UINT64_MAX);
	/* and a form that nobody knows ends the unit */
	a.form = 0x7777;
	c = cur_at(&s, 0);
	form_read(&d, &unit, &c, &a, &v);
	assert_true(c.bad);
}

static void
numbers_of_any_length(void **state)
{
	const uint8_t many[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	    0x80, 0x80, 0x80, 0x80, 0x00, 0x40 };
	struct span s = { many, sizeof(many) };
	struct cursor c = cur_at(&s, 0);

	(void)state;
	assert_true(cur_uleb(&c) == UINT64_MAX);
	assert_true(cur_uleb(&c) == 0);
	assert_true(cur_sleb(&c) == -64);
	assert_false(c.bad);
	assert_true(cur_uleb(&c) == 0);
	assert_true(c.bad);
	assert_true(cur_at(&s, sizeof(many)).bad);
	assert_true(cur_at(&s, UINT64_MAX).bad);
}

static struct loc
locate(const char *expr, size_t len)
{
	struct val v = { .cls = VAL_BLOCK, .p = (const uint8_t *)expr,
	    .len = len };
	struct loc l;

	loc_at(&d, &unit, &v, 0, &l);
	return l;
}

static void
registers_are_told_from_the_rest(void **state)
{
	struct loc l;

	(void)state;
	l = locate("\x55", 1);
	assert_int_equal(l.kind, LOC_REGS);
	assert_true(l.n == 1 && l.pieces[0].reg == 5 && l.pieces[0].len == 0);
	l = locate("\x55\x93\x08\x61\x93\x04", 6);
	assert_int_equal(l.kind, LOC_REGS);
	assert_true(l.n == 2 && l.pieces[1].reg == 17 &&
	    l.pieces[1].off == 8 && l.pieces[1].len == 4);
	l = locate("\x90\x11", 2);
	assert_true(l.kind == LOC_REGS && l.pieces[0].reg == 17);
	assert_int_equal(locate("\x91\x70", 2).kind, LOC_MEMORY);
	assert_int_equal(locate("\x75\0", 2).kind, LOC_MEMORY);
	assert_int_equal(locate("\x75\1\x9f", 3).kind, LOC_VALUE);
	assert_int_equal(locate("\x55\x93\x08\x32\x06\x93\x08", 7).kind,
	    LOC_VALUE);
	assert_int_equal(locate("\x55\x93", 2).kind, LOC_VALUE);
	assert_int_equal(locate("", 0).kind, LOC_NONE);
}

/* Places in memory, bits of registers, and pieces of which some are missing. */
static void
what_has_no_register_is_followed(void **state)
{
	struct loc l;

	(void)state;
	l = locate("\x75\x08", 2);
	assert_true(l.kind == LOC_MEMORY && l.base == LOC_BREG && l.reg == 5 &&
	    l.off == 8);
	l = locate("\x75\x08\x06", 3);
	assert_true(l.kind == LOC_MEMORY && l.base == LOC_ELSEWHERE);
	l = locate("\x91\x10\x93\x08\x91\x18\x93\x08", 8);
	assert_true(l.kind == LOC_MEMORY && l.base == LOC_CFA && l.off == 16);
	l = locate("\x75\0\x9f", 3);
	assert_true(l.kind == LOC_REGS && l.n == 1 && l.pieces[0].reg == 5 &&
	    l.pieces[0].value == UINT64_MAX);
	l = locate("\x75\0\x31\x1a\x9f", 5);
	assert_true(l.kind == LOC_REGS && l.pieces[0].value == 1);
	l = locate("\x93\x08\x55\x93\x04\x39\x9f\x93\x01", 9);
	assert_true(l.kind == LOC_REGS && l.n == 2);
	assert_true(l.pieces[0].off == 8 && !l.pieces[0].constant);
	assert_true(l.pieces[1].off == 12 && l.pieces[1].constant &&
	    l.pieces[1].value == 9);
	assert_int_equal(locate("\x93\x08", 2).kind, LOC_VALUE);
}

static int64_t
constant(const char *expr, size_t len)
{
	struct loc l = locate(expr, len);

	assert_int_equal(l.kind, LOC_CONSTANT);
	assert_int_equal(l.constant.cls, VAL_UINT);
	return (int64_t)l.constant.u;
}

static void
constants_are_told_with_their_sign(void **state)
{
	struct loc l;

	(void)state;
	assert_int_equal(constant("\x31\x9f", 2), 1);
	assert_int_equal(constant("\x08\xff\x9f", 3), 255);
	assert_int_equal(constant("\x09\xff\x9f", 3), -1);
	assert_int_equal(constant("\x0b\xfe\xff\x9f", 4), -2);
	assert_int_equal(constant("\x0c\xfe\xff\xff\xff\x9f", 6), 0xfffffffe);
	assert_int_equal(constant("\x11\x7f\x9f", 3), -1);
	l = locate("\x9e\x02\x01\x02", 4);
	assert_true(l.kind == LOC_CONSTANT && l.constant.len == 2 &&
	    l.constant.p[1] == 2);
	/* cut off, or no number alone */
	assert_int_equal(locate("\x9e\x03\x01\x02", 4).kind, LOC_VALUE);
	assert_int_equal(locate("\x09", 1).kind, LOC_VALUE);
	assert_int_equal(locate("\x31\x06", 2).kind, LOC_VALUE);
}

/* -- paths ---------------------------------------------------------------- */

static const char *
join(const char *a, const char *b, const char *c)
{
	static char out[SYM_NAME_MAX + 1];
	struct line_dir parts[] = { { a, strlen(a) }, { b, strlen(b) },
	    { c, strlen(c) } };

	size_t n = lines_join(out, parts, 3);

	assert_int_equal(n, strlen(out));
	return out;
}

static void
paths_are_tidy(void **state)
{
	char longest[SYM_NAME_MAX + 100];

	(void)state;
	assert_string_equal(join("/app/build", "../src", "a.c"),
	    "/app/src/a.c");
	assert_string_equal(join("/app", "/usr/include", "a.h"),
	    "/usr/include/a.h");
	assert_string_equal(join("/app", ".", "./x//a.c"), "/app/x/a.c");
	assert_string_equal(join("/app/../..", "..", "a.c"), "/a.c");
	assert_string_equal(join("/app", "", "/abs.c"), "/abs.c");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_string_equal(join("/app", longest, "a.c"), "/app/a.c");
}

/* -- names ---------------------------------------------------------------- */

static const char *
plain(const char *raw)
{
	static char out[SYM_NAME_MAX + 1];

	return demangle(raw, strlen(raw), out, sizeof(out)) > 0 ? out : "";
}

static void
names_are_as_written(void **state)
{
	(void)state;
	assert_string_equal(plain("_ZN3geo5Shape4drawEi"), "geo::Shape::draw");
	assert_string_equal(plain("_ZN12_GLOBAL__N_16hiddenEi"),
	    "(anonymous namespace)::hidden");
	assert_string_equal(plain("_ZN1FclEi"), "F::operator()");
	assert_string_equal(plain("_Z5twiceIiET_S0_"), "twice<int>");
	assert_string_equal(plain("_Z3addii.isra.0"), "add");
	assert_string_equal(
	    plain("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
	    "core::fmt::Formatter::pad");
	assert_string_equal(plain("_ZN37_$LT$a..Config$u20$as$u20$a..Draw$GT$"
	    "4draw17ha4bebee9d3d9aed4E"), "<a::Config as a::Draw>::draw");
	assert_string_equal(plain("_ZN1a1f17ha4bebee9d3d9aed4E.llvm.12"),
	    "a::f");
	assert_string_equal(plain("_RNvCs9mg4hJbtRZk_1a4make"), "a::make");
	assert_string_equal(plain("main"), "");
	assert_string_equal(plain("_Z"), "");
	assert_string_equal(plain("_ZZZZ"), "");
	assert_string_equal(plain(""), "");
}

/* Short names that stand for very long ones are left as they are. */
static void
bombs_do_not_go_off(void **state)
{
	char raw[4000] = "_Z1fI";
	char out[64];
	int i;

	(void)state;
	strcat(raw, "St4pairIiiE");
	for (i = 0; i < 60; i++) {
		strcat(raw, "St4pairIS");
		strcat(raw, i == 0 ? "0_S0_E" : "1_S1_E");
	}
	strcat(raw, "EvT_");
	(void)plain(raw);
	assert_int_equal(demangle("_ZN3geo5Shape4drawEi", 20, out, 8), 0);
	memset(raw, 'P', sizeof(raw));
	memcpy(raw, "_Z1f", 4);
	raw[sizeof(raw) - 2] = 'i';
	raw[sizeof(raw) - 1] = '\0';
	(void)plain(raw);
}

/* -- rights --------------------------------------------------------------- */

static int
try(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (filter_load(&symbols_filter) == -1)
			_exit(99);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void
do_memory(void)
{
	free(calloc(1, 10 << 20));
}

static void
do_open(void)
{
	if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) != -1)
		_exit(1);
}

static void
do_socket(void)
{
	(void)socket(AF_UNIX, SOCK_STREAM, 0);
}

static void
do_signal(void)
{
	(void)kill(getppid(), 0);
}

static void
do_trace(void)
{
	(void)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static void
do_exec(void)
{
	(void)execl("/bin/true", "true", (char *)NULL);
}

static void
do_fork(void)
{
	(void)fork();
}

static void
it_may_do_next_to_nothing(void **state)
{
	(void)state;
	assert_int_equal(try(do_memory), 0);
	/* a sanitizer's run time asks, and is refused */
	assert_int_equal(try(do_open), SANITIZED ? 0 : SIGSYS);
	assert_int_equal(try(do_socket), SIGSYS);
	assert_int_equal(try(do_signal), SIGSYS);
	assert_int_equal(try(do_trace), SIGSYS);
	assert_int_equal(try(do_exec), SIGSYS);
	assert_int_equal(try(do_fork), SIGSYS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_is_read_and_passed),
		cmocka_unit_test(what_is_cut_is_bad),
		cmocka_unit_test(what_is_not_there_is_no_value),
		cmocka_unit_test(numbers_of_any_length),
		cmocka_unit_test(registers_are_told_from_the_rest),
		cmocka_unit_test(what_has_no_register_is_followed),
		cmocka_unit_test(constants_are_told_with_their_sign),
		cmocka_unit_test(paths_are_tidy),
		cmocka_unit_test(names_are_as_written),
		cmocka_unit_test(bombs_do_not_go_off),
		cmocka_unit_test(it_may_do_next_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
