/* SPDX-License-Identifier: ISC */
/* The ELF header check: one good header, then everything that may be wrong. */
#include <sys/mman.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/elfhdr.h"

#if defined(__x86_64__)
#define HOST		EM_X86_64
#define OTHER		EM_AARCH64
#define OTHER_SAYS	"ELF for aarch64, this host runs x86-64"
#else
#define HOST		EM_AARCH64
#define OTHER		EM_X86_64
#define OTHER_SAYS	"ELF for x86-64, this host runs aarch64"
#endif

static Elf64_Ehdr
good(void)
{
	Elf64_Ehdr eh;

	memset(&eh, 0, sizeof(eh));
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	eh.e_type = ET_DYN;
	eh.e_machine = HOST;
	eh.e_phoff = sizeof(eh);
	eh.e_phnum = 3;
	eh.e_phentsize = sizeof(Elf64_Phdr);
	return eh;
}

static void
expect(const void *hdr, size_t len, const char *text)
{
	char why[160] = "";
	int r = elf_check(hdr, len, why, sizeof(why));

	if (text == NULL) {
		assert_string_equal(why, "");
		assert_int_equal(r, 0);
		return;
	}
	assert_int_equal(r, -1);
	if (strstr(why, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", why, text);
}

static void
accepts_programs(void **state)
{
	Elf64_Ehdr eh = good();
	char shifted[sizeof(eh) + 1];

	(void)state;
	expect(&eh, sizeof(eh), NULL);
	eh.e_type = ET_EXEC;
	expect(&eh, sizeof(eh), NULL);
	memcpy(shifted + 1, &eh, sizeof(eh));
	expect(shifted + 1, sizeof(eh), NULL);
}

static void
names_what_is_no_elf(void **state)
{
	(void)state;
	expect("", 0, "empty, not an ELF");
	expect("#!/bin/sh\nexit 0\n", 17, "a script, not an ELF");
	expect("#!", 2, "a script, not an ELF");
	expect("abc", 3, "3 bytes long, not an ELF");
	expect("PK\003\004xxxx", 8, "not an ELF (its first bytes are 50 4b 03 04)");
	expect("\177ELF", 4, "cut off after 4 bytes");
}

static void
every_short_header(void **state)
{
	Elf64_Ehdr eh = good();
	size_t len;

	(void)state;
	for (len = SELFMAG; len < sizeof(eh); len++)
		expect(&eh, len, "cut off after");
}

static void
wrong_host(void **state)
{
	Elf64_Ehdr eh = good();

	(void)state;
	eh.e_machine = OTHER;
	expect(&eh, sizeof(eh), OTHER_SAYS);
	eh.e_machine = 0xfedc;
	expect(&eh, sizeof(eh), "ELF for machine 65244");
	eh = good();
	eh.e_ident[EI_CLASS] = ELFCLASS32;
	expect(&eh, sizeof(eh), "32-bit ELF");
	eh.e_ident[EI_CLASS] = 9;
	expect(&eh, sizeof(eh), "damaged ELF");
	eh = good();
	eh.e_ident[EI_DATA] = ELFDATA2MSB;
	expect(&eh, sizeof(eh), "big-endian ELF");
	eh = good();
	eh.e_ident[EI_VERSION] = 0;
	expect(&eh, sizeof(eh), "version 0");
}

static void
wrong_type(void **state)
{
	Elf64_Ehdr eh = good();

	(void)state;
	eh.e_type = ET_REL;
	expect(&eh, sizeof(eh), "an object file, not a program");
	eh.e_type = ET_CORE;
	expect(&eh, sizeof(eh), "a core dump, not a program");
	eh.e_type = ET_NONE;
	expect(&eh, sizeof(eh), "type 0");
}

static void
wrong_layout(void **state)
{
	Elf64_Ehdr eh = good();

	(void)state;
	eh.e_phnum = 0;
	expect(&eh, sizeof(eh), "without program headers");
	eh = good();
	eh.e_phentsize = 32;
	expect(&eh, sizeof(eh), "program headers of 32 bytes");
	eh = good();
	eh.e_phoff = 63;
	expect(&eh, sizeof(eh), "program headers at 63");
	eh.e_phoff = UINT64_MAX;
	expect(&eh, sizeof(eh), "program headers at 18446744073709551615");
	eh.e_phoff = (uint64_t)INT64_MAX - 10;
	expect(&eh, sizeof(eh), "program headers at");
}

static void
files(void **state)
{
	Elf64_Ehdr eh = good();
	char why[160];
	int fd;

	(void)state;
	fd = memfd_create("elf", MFD_CLOEXEC);
	assert_int_not_equal(fd, -1);
	assert_int_equal(elf_check_fd(fd, ELF_32BIT_WRONG, why, sizeof(why)), -1);
	assert_string_equal(why, "empty, not an ELF");
	assert_int_equal(write(fd, &eh, sizeof(eh)), sizeof(eh));
	assert_int_equal(elf_check_fd(fd, ELF_32BIT_WRONG, why, sizeof(why)), -1);
	assert_string_equal(why, "ELF cut off after 64 bytes, its program "
	    "headers end at 232");
	assert_int_equal(ftruncate(fd, 232), 0);
	assert_int_equal(elf_check_fd(fd, ELF_32BIT_WRONG, why, sizeof(why)), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), (int)sizeof(eh));
	close(fd);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_not_equal(fd, -1);
	assert_int_equal(elf_check_fd(fd, ELF_32BIT_WRONG, why, sizeof(why)), 0);
	close(fd);
	assert_int_equal(elf_check_fd(-1, ELF_32BIT_GOOD, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "unreadable"));
}

/* A 32-bit program of the host's family, in a file; its fd is the caller's. */
static int
narrow_file(unsigned int machine, uint32_t phoff, off_t size)
{
	Elf32_Ehdr eh;
	int fd = memfd_create("elf", MFD_CLOEXEC);

	memset(&eh, 0, sizeof(eh));
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS32;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	eh.e_type = ET_EXEC;
	eh.e_machine = (Elf32_Half)machine;
	eh.e_phoff = phoff;
	eh.e_phnum = 2;
	eh.e_phentsize = sizeof(Elf32_Phdr);
	assert_int_not_equal(fd, -1);
	assert_int_equal(write(fd, &eh, sizeof(eh)), sizeof(eh));
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static void
expect_narrow(int fd, enum elf_32bit narrow, const char *text)
{
	char why[160] = "";

	assert_int_equal(elf_check_fd(fd, narrow, why, sizeof(why)),
	    *text == '\0' ? 0 : -1);
	if (strstr(why, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", why, text);
	close(fd);
}

/* Where the kernel may know them; of other hosts' there is none that runs. */
static void
programs_of_32_bits(void **state)
{
#ifdef __x86_64__
	const char *good = "";
#else
	const char *good = "32-bit ELF";
#endif

	(void)state;
	expect_narrow(narrow_file(EM_386, 52, 200), ELF_32BIT_GOOD, good);
	expect_narrow(narrow_file(EM_386, 52, 200), ELF_32BIT_WRONG,
	    "32-bit ELF, ");
	expect_narrow(narrow_file(EM_386, 52, 200), ELF_32BIT_FORBIDDEN,
	    "32-bit ELF, which the configuration forbids (allow-32bit no)");
#ifdef __x86_64__
	/* exactly as long as header and table, and a byte less */
	expect_narrow(narrow_file(EM_386, 52, 52 + 64), ELF_32BIT_GOOD, "");
	expect_narrow(narrow_file(EM_386, 52, 52 + 63), ELF_32BIT_GOOD,
	    "program headers end at 116");
	expect_narrow(narrow_file(EM_386, 51, 200), ELF_32BIT_GOOD,
	    "program headers at 51");
	/* x32: 64-bit code with 32-bit headers */
	expect_narrow(narrow_file(EM_X86_64, 52, 200), ELF_32BIT_GOOD,
	    "ELF for x86-64");
	expect_narrow(narrow_file(EM_ARM, 52, 200), ELF_32BIT_GOOD,
	    "ELF for arm");
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_programs),
		cmocka_unit_test(names_what_is_no_elf),
		cmocka_unit_test(every_short_header),
		cmocka_unit_test(wrong_host),
		cmocka_unit_test(wrong_type),
		cmocka_unit_test(wrong_layout),
		cmocka_unit_test(programs_of_32_bits),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
