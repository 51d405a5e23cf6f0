/* SPDX-License-Identifier: ISC */
/* More functions than are read of one file: some are left out, and that is
 * said.  The file is this test itself, and few are enough here. */
/* links: symbols/abbrev.c symbols/form.c symbols/func.c symbols/unit.c symbols/image.c symbols/mem.c symbols/lines.c symbols/ranges.c symbols/strs.c symbols/demangle.c tracer/binary/debuginfo_warnings.c */
#define SYM_FUNCS_MAX	7U

#include <sys/mman.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

/* compiled here: these obey SYM_FUNCS_MAX */
#include "symbols/build.c"
#include "symbols/scan.c"
#include "symbols/symtab.c"
#include "tracer/binary/debuginfo_warnings.h"

static struct elf_image image;
static struct dwarf	dwarf;

const char *
binary_name(const struct binary *b)
{
	(void)b;
	return "a.out";
}

static int
setup(void **state)
{
	char why[200];
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *map;

	(void)state;
	assert_int_not_equal(fd, -1);
	assert_int_equal(fstat(fd, &st), 0);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	(void)close(fd);
	assert_int_equal(elf_open(&image, map, (size_t)st.st_size, why,
	    sizeof(why)), 0);
	dwarf_open(&dwarf, &image);
	return 0;
}

static int
teardown(void **state)
{
	void *map = (void *)(uintptr_t)image.map;
	size_t size = image.size;

	(void)state;
	dwarf_close(&dwarf);
	elf_close(&image);
	(void)munmap(map, size);
	return 0;
}

/* The warning for an index with these flags; "" for none. */
static const char *
said(uint32_t flags)
{
	static char words[DEBUGINFO_WARNING];
	struct sym_header h = { .flags = flags };
	struct binary b = { .state = BINARY_READY, .ix = { .header = &h } };

	if (!debuginfo_warning(&b, 0, words))
		words[0] = '\0';
	assert_false(words[0] != '\0' && debuginfo_warning(&b, 1,
	    (char[DEBUGINFO_WARNING]){ 0 }));
	return words;
}

static void
debug_information_is_left_out(void **state)
{
	struct found f;

	(void)state;
	assert_true(dwarf.nunits > 0);
	build_index(&image, &dwarf, &f);
	assert_true(f.n > 0 && f.n <= SYM_FUNCS_MAX);
	assert_int_equal(f.flags & (SYM_FULL | SYM_HAS_DWARF | SYM_DAMAGED),
	    SYM_FULL | SYM_HAS_DWARF);
	assert_int_equal(f.funcs[f.n - 1].flags & SYM_NO_DWARF, 0);
	assert_non_null(strstr(said(f.flags), "a.out: it has more functions "
	    "than are read of one file; some are missing"));
	found_free(&f);
}

static void
a_second_time_finds_the_same(void **state)
{
	struct found a, b;

	(void)state;
	build_index(&image, &dwarf, &a);
	assert_int_not_equal(a.funcs[a.n - 1].file, 0);
	build_index(&image, &dwarf, &b);
	assert_int_equal(b.n, a.n);
	assert_memory_equal(b.funcs, a.funcs, a.n * sizeof(a.funcs[0]));
	assert_int_equal(b.strs.len, a.strs.len);
	assert_memory_equal(b.strs.buf, a.strs.buf, a.strs.len);
	found_free(&a);
	found_free(&b);
}

static void
symbols_are_left_out(void **state)
{
	struct dwarf none = { .elf = &image };
	struct found f;

	(void)state;
	build_index(&image, &none, &f);
	assert_true(f.n > 0 && f.n <= SYM_FUNCS_MAX);
	assert_int_equal(f.flags & (SYM_FULL | SYM_HAS_DWARF), SYM_FULL);
	assert_int_not_equal(f.funcs[0].flags & SYM_NO_DWARF, 0);
	found_free(&f);
}

static void
nothing_is_said_of_few(void **state)
{
	struct dwarf none = { .elf = &image };
	size_t texts = image.ntext;
	struct found f;

	(void)state;
	/* nothing of it is code */
	image.ntext = 0;
	build_index(&image, &none, &f);
	image.ntext = texts;
	assert_int_equal(f.n, 0);
	assert_int_equal(f.flags & SYM_FULL, 0);
	assert_string_equal(said(f.flags), "");
	found_free(&f);
}

static void
each_has_its_words(void **state)
{
	(void)state;
	assert_non_null(strstr(said(SYM_SPLIT), ".dwo"));
	assert_non_null(strstr(said(SYM_ELSEWHERE), "dwz"));
	assert_non_null(strstr(said(SYM_DAMAGED), "damaged"));
	assert_non_null(strstr(said(SYM_FOREIGN | SYM_HAS_DWARF),
	    "a version of DWARF that is not known"));
	assert_string_equal(said(SYM_HAS_DWARF | SYM_HAS_SYMTAB | SYM_PIE),
	    "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_information_is_left_out),
		cmocka_unit_test(a_second_time_finds_the_same),
		cmocka_unit_test(symbols_are_left_out),
		cmocka_unit_test(nothing_is_said_of_few),
		cmocka_unit_test(each_has_its_words),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
