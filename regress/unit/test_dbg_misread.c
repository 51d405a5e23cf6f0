/* SPDX-License-Identifier: ISC */
/* lldb's words about functions in several parts, and which frames are wrong. */
/* links: debugger/view/misread.c debugger/dap/repl.c debugger/base/format.c debugger/text/json_get.c debugger/text/json_make.c debugger/text/json_size.c debugger/text/clean.c debugger/text/memtext.c common/base/log.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/dap/dialect.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/view/misread.h"
#include "regress/unit/test_dbg_op.h"

/* work() is at 0x10 and 0x60, and the others are whole. */
#define WORK	"      Address: t[0x62] (t.PT_LOAD[1]..text + 2)\n" \
    "     Function: id = {0x1f}, name = \"work(int)\", mangled = \"_Z4worki\"" \
    ", range = [0x0000000000000010-0x0000000000000090)\n" \
    "     FuncType: id = {0x1f}, byte-size = 0, compiler_type = \"int (int)\"\n" \
    "       Blocks: id = {0x1f}, ranges = [0x00000010-0x00000020)" \
    "[0x00000060-0x00000090)\n" \
    "               id = {0x2f}, range = [0x00000062-0x00000064)\n" \
    "       Symbol: id = {0x5}, range = [0x60-0x90), name=\"work(int)\"\n"

static bool	 lldb = true;
static unsigned int asked, learnt;

const struct dialect *
dialect(void)
{
	static struct dialect d = { .command_prefix = "`" };

	d.lldb_commands = lldb;
	return &d;
}

/* The function that is at an address. */
static const char *
about(uint64_t at)
{
	static char text[512];
	const uint64_t from = at / 16 * 16;

	if ((at >= 0x10 && at < 0x20) || (at >= 0x60 && at < 0x90))
		return WORK;
	if (at >= 0x100)
		return "";
	(void)snprintf(text, sizeof(text), " Function: id = {0x3}, name = \"f\""
	    ", range = [0x%" PRIx64 "-0x%" PRIx64 ")\n Blocks: id = {0x3}, "
	    "range = [0x%" PRIx64 "-0x%" PRIx64 ")\n", from, from + 16, from,
	    from + 16);
	return text;
}

void
adapter_ask(const char *command, struct json_object *args, struct op *op,
    dap_fn fn, void *arg)
{
	const char *words = jget_str(args, "expression");
	struct dap_answer a = { .ok = true };

	assert_string_equal(command, "evaluate");
	assert_memory_equal(words, "`image lookup -v -a 0x", 22);
	asked++;
	a.body = jone_str("result", about(strtoull(words + 20, NULL, 16)));
	fn(op, &a, arg);
	json_object_put(a.body);
	json_object_put(args);
}

static void
is_read(const char *text, uint64_t at, struct misread_code want)
{
	struct misread_code c;

	misread_read(&c, text, at);
	assert_int_equal(c.from, want.from);
	assert_int_equal(c.to, want.to);
	assert_int_equal(c.low, want.low);
	assert_int_equal(c.high, want.high);
	assert_int_equal(c.joined, want.joined);
}

static void
one_range_for_several_parts_is_seen(void **state)
{
	(void)state;
	is_read(WORK, 0x62, (struct misread_code) { 0x60, 0x90, 0x10, 0x90,
	    true });
	is_read(WORK, 0x1f, (struct misread_code) { 0x10, 0x20, 0x10, 0x90,
	    true });
	is_read(about(0x33), 0x33, (struct misread_code) { 0x30, 0x40, 0x30,
	    0x40, false });
}

/* lldb 22 tells the parts of the function as well. */
static void
later_versions_are_right(void **state)
{
	static const char text[] = " Function: id = {0x1f}, name = \"work\", "
	    "ranges = [0x10-0x20)[0x60-0x90)\n Blocks: id = {0x1f}, ranges = "
	    "[0x10-0x20)[0x60-0x90)\n Symbol: id = {0x5}, range = [0x60-0x90), "
	    "name=\"work\"\n";

	(void)state;
	is_read(text, 0x62, (struct misread_code) { 0x60, 0x90, 0x60, 0x90,
	    false });
}

static void
code_without_a_function_is_its_symbol(void **state)
{
	const struct misread_code none = { 0x62, 0x63, 0x62, 0x63, false };
	const char *const bad[] = { "", "error: none", " Function: ",
		" Function: id = {0x1}, range = [0x10-0x20)\n",
		" Function: id = {0x1}, range = [0x70-0x10)\n",
		" Function: id = {0x1}, range = [0x10\n",
		" Symbol: id = {0x5}\n", " Symbol: range = [",
		" Symbol: range = [0x10-0x20), name=\"elsewhere\"" };
	size_t i;

	(void)state;
	is_read(" Symbol: id = {0x5}, range = [0x60-0x90), name=\"f\"\n", 0x62,
	    (struct misread_code) { 0x60, 0x90, 0x60, 0x90, false });
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_read(bad[i], 0x62, none);
}

/* -- stacks ------------------------------------------------------------- */
static void
on_learnt(void *arg)
{
	(void)arg;
	learnt++;
}

/* Frames at these addresses, up to 0; all of them have been met then. */
static struct json_object *
stack(const unsigned int *at)
{
	struct json_object *frames = jarray(), *f;

	for (; *at != 0; at++) {
		f = jobject();
		jput_fmt(f, "instructionPointerReference", "0x%x", *at);
		jput_fmt(f, "name", "f%x", *at);
		jadd(frames, f);
	}
	learnt = 0;
	misread_learn(NULL, frames, 0, on_learnt, NULL);
	assert_int_equal(learnt, 1);
	return frames;
}

/* The index of the first wrong frame; the number of frames = none. */
static size_t
wrong_of(const unsigned int *at)
{
	struct json_object *frames = stack(at);
	const size_t i = misread_frame(frames, jlen(frames), 0);

	json_object_put(frames);
	return i;
}

static int
setup(void **state)
{
	(void)state;
	misread_forget();
	lldb = true;
	asked = 0;
	return 0;
}

static void
only_the_upper_part_is_wrong(void **state)
{
	static const unsigned int upper[] = { 0xa4, 0x62, 0xb8, 0 };
	static const unsigned int lower[] = { 0xa4, 0x12, 0xb8, 0 };
	/* a call at the end of a function goes on in the next one */
	static const unsigned int before[] = { 0xa4, 0x60, 0 };

	(void)state;
	assert_int_equal(wrong_of(upper), 1);
	assert_int_equal(wrong_of(lower), 3);
	misread_forget();
	assert_int_equal(wrong_of(before), 2);
}

/* A function that lldb met before has rules of its own. */
static void
functions_between_are_wrong_when_met_later(void **state)
{
	static const unsigned int early[] = { 0x44, 0x62, 0 };
	static const unsigned int again[] = { 0x48, 0xa4, 0 };
	static const unsigned int behind[] = { 0x54, 0xa4, 0 };
	static const unsigned int ahead[] = { 0x34, 0xa4, 0 };

	(void)state;
	assert_int_equal(wrong_of(early), 1);
	assert_int_equal(wrong_of(again), 2);
	/* found by the function that is next below it, which ends before it */
	assert_int_equal(wrong_of(behind), 2);
	assert_int_equal(wrong_of(ahead), 0);
}

static void
each_function_is_asked_for_once(void **state)
{
	static const unsigned int deep[] = { 0x62, 0xa4, 0xa8, 0xb2, 0x66, 0 };
	unsigned int many[60];
	size_t i;

	(void)state;
	(void)wrong_of(deep);
	asked = 0;
	(void)wrong_of(deep);
	assert_int_equal(asked, 0);
	for (i = 0; i < 59; i++)
		many[i] = 0x1000 + 16 * (unsigned int)i;
	many[i] = 0;
	(void)wrong_of(many);
	assert_in_range(asked, 1, 30);
	lldb = false;
	asked = 0;
	misread_forget();
	assert_int_equal(wrong_of(deep), 5);
	assert_int_equal(asked, 0);
}

static void
the_warning_names_the_function_that_has_the_frame(void **state)
{
	static const unsigned int inlined[] = { 0xa4, 0x62, 0x62, 0 };
	struct json_object *frames = stack(inlined);
	char *words;

	(void)state;
	jput_str(jat(frames, 2), "name", "work(int)");
	words = misread_words(frames, misread_frame(frames, 3, 0));
	assert_non_null(strstr(words, "misreads work(int), which gcc has"));
	free(words);
	json_object_put(frames);
}

static void
long_complex_numbers_are_no_numbers(void **state)
{
	struct json_object *v = jone_str("value", "1.5 + 0i");

	(void)state;
	jput_str(v, "type", "_Complex double");
	jput_str(v, "evaluateName", "s.z");
	misread_mend(v, NULL);
	assert_string_equal(jget_str(v, "value"), "1.5 + 0i");
	jput_str(v, "type", "const _Complex long double");
	misread_mend(v, NULL);
	assert_string_equal(jget_str(v, "value"), "<lldb misreads this type: "
	    "print __real__ s.z, and __imag__ s.z>");
	lldb = false;
	jput_str(v, "value", "1.5 + 2i");
	misread_mend(v, NULL);
	assert_string_equal(jget_str(v, "value"), "1.5 + 2i");
	json_object_put(v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_range_for_several_parts_is_seen),
		cmocka_unit_test(later_versions_are_right),
		cmocka_unit_test(code_without_a_function_is_its_symbol),
		cmocka_unit_test_setup(only_the_upper_part_is_wrong, setup),
		cmocka_unit_test_setup(
		    functions_between_are_wrong_when_met_later, setup),
		cmocka_unit_test_setup(each_function_is_asked_for_once, setup),
		cmocka_unit_test_setup(
		    the_warning_names_the_function_that_has_the_frame, setup),
		cmocka_unit_test_setup(long_complex_numbers_are_no_numbers,
		    setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
