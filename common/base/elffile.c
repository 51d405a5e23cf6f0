/* SPDX-License-Identifier: ISC */
/* Sections of ELF files: by pread(2), since a mapped file may get shorter. */
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "elffile.h"

#define SECTIONS_MOST	4096U
#define NAMES_MOST	((uint64_t)1 << 20)

void *
elf_load(int fd, uint64_t offset, uint64_t len, uint64_t most)
{
	struct stat st;
	void *p;

	if (len == 0 || len > most || fstat(fd, &st) == -1 ||
	    offset > (uint64_t)st.st_size ||
	    len > (uint64_t)st.st_size - offset)
		return NULL;
	p = malloc(len);
	if (p != NULL &&
	    pread_again(fd, p, len, (off_t)offset) != (ssize_t)len) {
		free(p);
		p = NULL;
	}
	return p;
}

static void
read_names(int fd, struct elf_sections *s, size_t which)
{
	const Elf64_Shdr *sh = &s->headers[which];

	s->names = elf_load(fd, sh->sh_offset, sh->sh_size, NAMES_MOST);
	if (s->names == NULL)
		return;
	s->names_len = sh->sh_size;
	s->names[s->names_len - 1] = '\0';
}

bool
elf_sections_read(int fd, struct elf_sections *s)
{
	Elf64_Ehdr eh;

	memset(s, 0, sizeof(*s));
	if (pread_again(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_shnum > SECTIONS_MOST ||
	    eh.e_shentsize != sizeof(*s->headers))
		return false;
	s->headers = elf_load(fd, eh.e_shoff,
	    eh.e_shnum * sizeof(*s->headers), UINT32_MAX);
	if (s->headers == NULL)
		return false;
	s->n = eh.e_shnum;
	/* a file without names has sections all the same */
	if (eh.e_shstrndx < s->n)
		read_names(fd, s, eh.e_shstrndx);
	return true;
}

void
elf_sections_free(struct elf_sections *s)
{
	free(s->headers);
	free(s->names);
	memset(s, 0, sizeof(*s));
}

const char *
elf_section_name(const struct elf_sections *s, size_t i)
{
	uint64_t at = s->headers[i].sh_name;

	return s->names == NULL || at >= s->names_len ? "" : s->names + at;
}

bool
elf_is_go(const struct elf_sections *s)
{
	static const char *const go[] = { ".go.buildinfo", ".note.go.buildid",
		".gopclntab" };
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < sizeof(go) / sizeof(go[0]); k++)
			if (strcmp(elf_section_name(s, i), go[k]) == 0)
				return true;
	return false;
}
