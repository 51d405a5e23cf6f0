/* SPDX-License-Identifier: ISC */
/* Sections of ELF files: those that readelf(1) shows, and damaged ones. */
#include <sys/mman.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elffile.h"

/* As far as they are there. */
static const char *const files[] = { "/proc/self/exe", "/usr/bin/ls",
	"/usr/bin/gdb", "/usr/bin/make", "/lib64/ld-linux-x86-64.so.2" };

/* The sections by readelf, each a line "name type size". */
static void
by_readelf(const char *path, char *out, size_t size)
{
	char command[512], line[512], name[256], type[64];
	char *target = realpath(path, NULL);
	unsigned long bytes;
	size_t n = 0;
	FILE *f;

	assert_non_null(target);
	(void)snprintf(command, sizeof(command), "LC_ALL=C readelf -SW '%s' | "
	    "sed -n 's/^ *\\[ *[0-9]*\\] //p'", target);
	free(target);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		/* the first has no name, and its type is NULL */
		if (sscanf(line, "%255s %63s %*s %*s %lx", name, type,
		    &bytes) != 3 || strcmp(name, "NULL") == 0)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s %lx\n", name,
		    bytes);
	}
	assert_int_equal(pclose(f), 0);
	assert_true(n > 0 && n < size);
}

static void
by_us(const char *path, char *out, size_t size)
{
	struct elf_sections s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t i, n = 0;

	assert_true(elf_sections_read(fd, &s));
	for (i = 1; i < s.n; i++)
		n += (size_t)snprintf(out + n, size - n, "%s %lx\n",
		    elf_section_name(&s, i),
		    (unsigned long)s.headers[i].sh_size);
	assert_false(elf_is_go(&s));
	elf_sections_free(&s);
	close(fd);
}

static void
sections_are_those_of_readelf(void **state)
{
	static char theirs[65536], ours[65536];
	size_t i, tried = 0;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (access(files[i], R_OK) == -1)
			continue;
		by_readelf(files[i], theirs, sizeof(theirs));
		by_us(files[i], ours, sizeof(ours));
		assert_string_equal(ours, theirs);
		tried++;
	}
	assert_true(tried >= 2);
}

/* -- damaged files -------------------------------------------------------- */

#define NAMES		"\0.text\0.note.go.buildid"

struct file {
	Elf64_Ehdr	eh;
	Elf64_Shdr	sh[3];
	char		names[sizeof(NAMES)];
};

static struct file
good(void)
{
	struct file f = { .names = NAMES };

	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_shoff = offsetof(struct file, sh);
	f.eh.e_shnum = 3;
	f.eh.e_shstrndx = 1;
	f.eh.e_shentsize = sizeof(f.sh[0]);
	f.sh[1].sh_name = 1;
	f.sh[1].sh_offset = offsetof(struct file, names);
	f.sh[1].sh_size = sizeof(f.names);
	f.sh[2].sh_name = 7;
	return f;
}

static bool
is_read(const struct file *f, size_t len, struct elf_sections *s)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	bool is;

	assert_int_equal(write(fd, f, len), len);
	is = elf_sections_read(fd, s);
	close(fd);
	return is;
}

static void
go_is_known_by_its_sections(void **state)
{
	struct file f = good();
	struct elf_sections s;

	(void)state;
	assert_true(is_read(&f, sizeof(f), &s));
	assert_string_equal(elf_section_name(&s, 0), "");
	assert_string_equal(elf_section_name(&s, 1), ".text");
	assert_string_equal(elf_section_name(&s, 2), ".note.go.buildid");
	assert_true(elf_is_go(&s));
	elf_sections_free(&s);
}

static void
names_are_bounded(void **state)
{
	struct file f = good();
	struct elf_sections s;

	(void)state;
	/* the last name has no end */
	f.sh[1].sh_size = 12;
	f.sh[2].sh_name = 12;
	assert_true(is_read(&f, sizeof(f), &s));
	assert_string_equal(elf_section_name(&s, 1), ".text");
	assert_string_equal(elf_section_name(&s, 2), "");
	f.sh[2].sh_name = 7;
	elf_sections_free(&s);
	assert_true(is_read(&f, sizeof(f), &s));
	assert_string_equal(elf_section_name(&s, 2), ".not");
	elf_sections_free(&s);
	/* none at all: behind the file, or of no section */
	f.sh[1].sh_size = sizeof(f.names) + 1;
	assert_true(is_read(&f, sizeof(f), &s));
	assert_string_equal(elf_section_name(&s, 1), "");
	elf_sections_free(&s);
	f = good();
	f.eh.e_shstrndx = 3;
	assert_true(is_read(&f, sizeof(f), &s));
	assert_string_equal(elf_section_name(&s, 2), "");
	assert_false(elf_is_go(&s));
	elf_sections_free(&s);
}

static void
damaged_files_are_refused(void **state)
{
	struct file f;
	struct elf_sections s;
	size_t len;

	(void)state;
	for (len = 0; len < offsetof(struct file, names); len++) {
		f = good();
		assert_false(is_read(&f, len, &s));
	}
	f = good();
	f.eh.e_ident[EI_CLASS] = ELFCLASS32;
	assert_false(is_read(&f, sizeof(f), &s));
	f = good();
	f.eh.e_shentsize--;
	assert_false(is_read(&f, sizeof(f), &s));
	f = good();
	f.eh.e_shnum = 0;
	assert_false(is_read(&f, sizeof(f), &s));
	f.eh.e_shnum = UINT16_MAX;
	assert_false(is_read(&f, sizeof(f), &s));
	f = good();
	f.eh.e_shoff = UINT64_MAX - sizeof(f.sh) + 1;
	assert_false(is_read(&f, sizeof(f), &s));
	assert_false(elf_sections_read(-1, &s));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_those_of_readelf),
		cmocka_unit_test(go_is_known_by_its_sections),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(damaged_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
