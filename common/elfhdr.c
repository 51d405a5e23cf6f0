/* SPDX-License-Identifier: ISC */
/*
 * The ELF header check that uploaded images and the programs of bundles have
 * in common.  It reads 64 bytes and trusts none of them.
 */
#include <sys/stat.h>

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elfhdr.h"

#if defined(__x86_64__)
#define HOST_MACHINE	EM_X86_64
#define HOST_NAME	"x86-64"
#elif defined(__aarch64__)
#define HOST_MACHINE	EM_AARCH64
#define HOST_NAME	"aarch64"
#else
#error "which machine is this?"
#endif

_Static_assert(sizeof(Elf64_Ehdr) == ELF_CHECK_LEN, "ELF header");

struct name {
	unsigned int value;
	const char *text;
};

static const struct name machines[] = {
	{ EM_386, "i386" },
	{ EM_X86_64, "x86-64" },
	{ EM_ARM, "arm" },
	{ EM_AARCH64, "aarch64" },
	{ EM_RISCV, "riscv" },
	{ EM_MIPS, "mips" },
	{ EM_PPC, "powerpc" },
	{ EM_PPC64, "powerpc64" },
	{ EM_S390, "s390" },
	{ EM_SPARCV9, "sparc64" },
	{ EM_BPF, "bpf" },
	{ 0, NULL }
};

static const struct name types[] = {
	{ ET_REL, "an object file" },
	{ ET_CORE, "a core dump" },
	{ 0, NULL }
};

static const char *
name_of(const struct name *table, unsigned int value)
{
	for (; table->text != NULL; table++) {
		if (table->value == value)
			return table->text;
	}
	return NULL;
}

static int
not_elf(const unsigned char *p, size_t len, char *why, size_t size)
{
	if (len == 0)
		snprintf(why, size, "empty, not an ELF");
	else if (len >= 2 && p[0] == '#' && p[1] == '!')
		snprintf(why, size, "a script, not an ELF");
	else if (len < SELFMAG)
		snprintf(why, size, "%zu bytes long, not an ELF", len);
	else
		snprintf(why, size, "not an ELF (its first bytes are "
		    "%02x %02x %02x %02x)", p[0], p[1], p[2], p[3]);
	return -1;
}

static int
wrong_machine(unsigned int machine, char *why, size_t size)
{
	const char *name = name_of(machines, machine);

	if (name != NULL)
		snprintf(why, size, "ELF for %s, this host runs " HOST_NAME,
		    name);
	else
		snprintf(why, size, "ELF for machine %u, this host runs "
		    HOST_NAME, machine);
	return -1;
}

static int
wrong_type(unsigned int type, char *why, size_t size)
{
	const char *name = name_of(types, type);

	if (name != NULL)
		snprintf(why, size, "%s, not a program", name);
	else
		snprintf(why, size, "ELF of type %u, not a program", type);
	return -1;
}

/* Byte order first: the fields after e_ident cannot be read without it. */
static int
check_ident(const unsigned char *id, char *why, size_t size)
{
	if (id[EI_DATA] != ELFDATA2LSB) {
		snprintf(why, size, "%s ELF, this host runs little-endian "
		    HOST_NAME, id[EI_DATA] == ELFDATA2MSB ? "big-endian" :
		    "damaged");
		return -1;
	}
	if (id[EI_CLASS] != ELFCLASS64) {
		snprintf(why, size, "%s ELF, this host runs 64-bit " HOST_NAME,
		    id[EI_CLASS] == ELFCLASS32 ? "32-bit" : "damaged");
		return -1;
	}
	if (id[EI_VERSION] != EV_CURRENT) {
		snprintf(why, size, "ELF of version %u, expected %u",
		    id[EI_VERSION], EV_CURRENT);
		return -1;
	}
	return 0;
}

static int
check_layout(const Elf64_Ehdr *eh, char *why, size_t size)
{
	uint64_t table = (uint64_t)eh->e_phnum * sizeof(Elf64_Phdr);

	if (eh->e_phnum == 0) {
		snprintf(why, size, "ELF without program headers, "
		    "nothing to run");
		return -1;
	}
	if (eh->e_phentsize != sizeof(Elf64_Phdr)) {
		snprintf(why, size, "damaged ELF: program headers of %u bytes "
		    "instead of %zu", eh->e_phentsize, sizeof(Elf64_Phdr));
		return -1;
	}
	/* the upper bound keeps sums of offsets inside an off_t */
	if (eh->e_phoff < sizeof(*eh) || eh->e_phoff > INT64_MAX - table) {
		snprintf(why, size, "damaged ELF: program headers at %llu",
		    (unsigned long long)eh->e_phoff);
		return -1;
	}
	return 0;
}

int
elf_check(const void *hdr, size_t len, char *why, size_t size)
{
	Elf64_Ehdr eh;

	if (len < SELFMAG || memcmp(hdr, ELFMAG, SELFMAG) != 0)
		return not_elf(hdr, len, why, size);
	if (len < sizeof(eh)) {
		snprintf(why, size, "ELF cut off after %zu bytes, its header "
		    "has %zu", len, sizeof(eh));
		return -1;
	}
	memcpy(&eh, hdr, sizeof(eh));
	if (check_ident(eh.e_ident, why, size) == -1)
		return -1;
	if (eh.e_machine != HOST_MACHINE)
		return wrong_machine(eh.e_machine, why, size);
	if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		return wrong_type(eh.e_type, why, size);
	return check_layout(&eh, why, size);
}

static ssize_t
read_head(int fd, void *buf, size_t size)
{
	size_t have = 0;
	ssize_t n;

	while (have < size) {
		n = pread(fd, (char *)buf + have, size - have, (off_t)have);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

int
elf_check_fd(int fd, char *why, size_t size)
{
	Elf64_Ehdr eh;
	struct stat st;
	uint64_t end;
	ssize_t n;

	n = read_head(fd, &eh, sizeof(eh));
	if (n == -1 || fstat(fd, &st) == -1) {
		snprintf(why, size, "unreadable: %s", strerror(errno));
		return -1;
	}
	if (elf_check(&eh, (size_t)n, why, size) == -1)
		return -1;
	end = eh.e_phoff + (uint64_t)eh.e_phnum * sizeof(Elf64_Phdr);
	if (end > (uint64_t)st.st_size) {
		snprintf(why, size, "ELF cut off after %lld bytes, its "
		    "program headers end at %llu", (long long)st.st_size,
		    (unsigned long long)end);
		return -1;
	}
	return 0;
}
