/* SPDX-License-Identifier: ISC */
/* Debug information in a file of its own. */
#include <sys/stat.h>

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "again.h"
#include "debugfile.h"

#define SECTIONS_MOST	4096U
#define NAMES_MOST	((size_t)1 << 20)
#define BY_ID		"/usr/lib/debug/.build-id"

/* -- is it there? --------------------------------------------------------- */

/* malloc'ed; NULL: not there, or too long to be believed. */
static void *
piece(int fd, uint64_t off, size_t len)
{
	void *p;

	if (len == 0 || off > INT64_MAX)
		return NULL;
	p = malloc(len);
	if (p != NULL && pread_again(fd, p, len, (off_t)off) != (ssize_t)len) {
		free(p);
		p = NULL;
	}
	return p;
}

static bool
is_info(const Elf64_Shdr *sh, const char *names, size_t len)
{
	const char *name;

	if (sh->sh_type == SHT_NOBITS || sh->sh_size == 0 ||
	    sh->sh_name >= len)
		return false;
	name = names + sh->sh_name;
	if (memchr(name, '\0', len - sh->sh_name) == NULL)
		return false;
	return strcmp(name, ".debug_info") == 0 ||
	    strcmp(name, ".zdebug_info") == 0;
}

static bool
any_info(int fd, const Elf64_Ehdr *eh, const Elf64_Shdr *sh)
{
	const Elf64_Shdr *str = &sh[eh->e_shstrndx];
	size_t len = str->sh_size < NAMES_MOST ? str->sh_size : NAMES_MOST, i;
	char *names = piece(fd, str->sh_offset, len);
	bool found = false;

	for (i = 0; names != NULL && i < eh->e_shnum; i++)
		found = found || is_info(&sh[i], names, len);
	free(names);
	return found;
}

bool
debugfile_is_one(int fd)
{
	Elf64_Ehdr eh;
	Elf64_Shdr *sh;
	bool found;

	if (pread_again(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_shnum == 0 ||
	    eh.e_shnum > SECTIONS_MOST || eh.e_shstrndx >= eh.e_shnum ||
	    eh.e_shentsize != sizeof(*sh))
		return false;
	sh = piece(fd, eh.e_shoff, eh.e_shnum * sizeof(*sh));
	found = sh != NULL && any_info(fd, &eh, sh);
	free(sh);
	return found;
}

/* -- where it is ---------------------------------------------------------- */

static int
try(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd != -1 && (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    !debugfile_is_one(fd))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int
debugfile_open(const char *path, const char *id)
{
	const char *slash = strrchr(path, '/');
	int dir = slash == NULL ? 0 : (int)(slash - path) + 1, fd = -1;
	const char *name = path + dir;
	char to[PATH_MAX + 32];

	/* that it belongs to this binary is known by the build id alone */
	if (strlen(id) < 4)
		return -1;
	(void)snprintf(to, sizeof(to), BY_ID "/%.2s/%s.debug", id, id + 2);
	fd = try(to);
	if (fd == -1 && *path == '/') {
		(void)snprintf(to, sizeof(to), "%.*s%s.debug", dir, path,
		    name);
		fd = try(to);
	}
	if (fd == -1 && *path == '/') {
		(void)snprintf(to, sizeof(to), "%.*s.debug/%s.debug", dir,
		    path, name);
		fd = try(to);
	}
	if (fd == -1 && *path == '/') {
		(void)snprintf(to, sizeof(to), "/usr/lib/debug%s.debug", path);
		fd = try(to);
	}
	return fd;
}
