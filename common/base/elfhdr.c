/* SPDX-License-Identifier: ISC */
/*
 * The ELF header check that uploaded images and the programs of bundles have
 * in common.  It reads 64 bytes and trusts none of them.
 */
#include <sys/stat.h>

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elfhdr.h"

#if defined(__x86_64__)
#define HOST_MACHINE	EM_X86_64
#define HOST_NAME	"x86-64"
#define HOST_32BIT	EM_386
#elif defined(__aarch64__)
#define HOST_MACHINE	EM_AARCH64
#define HOST_NAME	"aarch64"
#define HOST_32BIT	EM_NONE
#else
#error "which machine is this?"
#endif

_Static_assert(sizeof(Elf64_Ehdr) == ELF_CHECK_LEN, "ELF header");

/* The fields that both classes of headers have, without their widths. */
struct header {
	unsigned int	machine, type, phnum, phentsize;
	uint64_t	phoff;
	/* sizes in that class */
	size_t		size, phsize;
};

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

static int
not_64bit(const unsigned char *id, enum elf_32bit narrow, char *why,
    size_t size)
{
	if (id[EI_CLASS] != ELFCLASS32)
		snprintf(why, size, "damaged ELF, this host runs 64-bit "
		    HOST_NAME);
	else if (narrow == ELF_32BIT_FORBIDDEN)
		snprintf(why, size, "32-bit ELF, which the configuration "
		    "forbids (allow-32bit no)");
	else if (HOST_32BIT != EM_NONE)
		snprintf(why, size, "32-bit ELF, a 64-bit one for " HOST_NAME
		    " is needed");
	else
		snprintf(why, size, "32-bit ELF, this host runs 64-bit "
		    HOST_NAME);
	return -1;
}

/* Byte order first: the fields after e_ident cannot be read without it. */
static int
check_ident(const unsigned char *id, enum elf_32bit narrow, char *why,
    size_t size)
{
	if (id[EI_DATA] != ELFDATA2LSB) {
		snprintf(why, size, "%s ELF, this host runs little-endian "
		    HOST_NAME, id[EI_DATA] == ELFDATA2MSB ? "big-endian" :
		    "damaged");
		return -1;
	}
	if (id[EI_CLASS] != ELFCLASS64 && (id[EI_CLASS] != ELFCLASS32 ||
	    HOST_32BIT == EM_NONE || narrow != ELF_32BIT_GOOD))
		return not_64bit(id, narrow, why, size);
	if (id[EI_VERSION] != EV_CURRENT) {
		snprintf(why, size, "ELF of version %u, expected %u",
		    id[EI_VERSION], EV_CURRENT);
		return -1;
	}
	return 0;
}

static int
check_layout(const struct header *h, char *why, size_t size)
{
	uint64_t table = (uint64_t)h->phnum * h->phsize;

	if (h->phnum == 0) {
		snprintf(why, size, "ELF without program headers, "
		    "nothing to run");
		return -1;
	}
	if (h->phentsize != h->phsize) {
		snprintf(why, size, "damaged ELF: program headers of %u bytes "
		    "instead of %zu", h->phentsize, h->phsize);
		return -1;
	}
	/* the upper bound keeps sums of offsets inside an off_t */
	if (h->phoff < h->size || h->phoff > INT64_MAX - table) {
		snprintf(why, size, "damaged ELF: program headers at %llu",
		    (unsigned long long)h->phoff);
		return -1;
	}
	return 0;
}

static void
read_header(const void *hdr, bool narrow, struct header *h)
{
	Elf64_Ehdr eh;
	Elf32_Ehdr e32;

	memset(h, 0, sizeof(*h));
	if (narrow) {
		memcpy(&e32, hdr, sizeof(e32));
		*h = (struct header){ e32.e_machine, e32.e_type, e32.e_phnum,
		    e32.e_phentsize, e32.e_phoff, sizeof(e32),
		    sizeof(Elf32_Phdr) };
		return;
	}
	memcpy(&eh, hdr, sizeof(eh));
	*h = (struct header){ eh.e_machine, eh.e_type, eh.e_phnum,
	    eh.e_phentsize, eh.e_phoff, sizeof(eh), sizeof(Elf64_Phdr) };
}

static int
check(const void *hdr, size_t len, enum elf_32bit narrow, struct header *h,
    char *why, size_t size)
{
	const unsigned char *id = hdr;
	bool is_narrow;

	if (len < SELFMAG || memcmp(hdr, ELFMAG, SELFMAG) != 0)
		return not_elf(hdr, len, why, size);
	is_narrow = len > EI_CLASS && id[EI_CLASS] == ELFCLASS32;
	h->size = is_narrow ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
	if (len < h->size) {
		snprintf(why, size, "ELF cut off after %zu bytes, its header "
		    "has %zu", len, h->size);
		return -1;
	}
	if (check_ident(id, narrow, why, size) == -1)
		return -1;
	read_header(hdr, is_narrow, h);
	if (h->machine != (is_narrow ? HOST_32BIT : HOST_MACHINE))
		return wrong_machine(h->machine, why, size);
	if (h->type != ET_EXEC && h->type != ET_DYN)
		return wrong_type(h->type, why, size);
	return check_layout(h, why, size);
}

int
elf_check(const void *hdr, size_t len, char *why, size_t size)
{
	struct header h;

	return check(hdr, len, ELF_32BIT_WRONG, &h, why, size);
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
elf_check_fd(int fd, enum elf_32bit narrow, char *why, size_t size)
{
	char hdr[ELF_CHECK_LEN];
	struct header h;
	struct stat st;
	uint64_t end;
	ssize_t n;

	n = read_head(fd, hdr, sizeof(hdr));
	if (n == -1 || fstat(fd, &st) == -1) {
		snprintf(why, size, "unreadable: %s", strerror(errno));
		return -1;
	}
	if (check(hdr, (size_t)n, narrow, &h, why, size) == -1)
		return -1;
	end = h.phoff + (uint64_t)h.phnum * h.phsize;
	if (end > (uint64_t)st.st_size) {
		snprintf(why, size, "ELF cut off after %lld bytes, its "
		    "program headers end at %llu", (long long)st.st_size,
		    (unsigned long long)end);
		return -1;
	}
	return 0;
}
