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

#include "base/again.h"
#include "base/elffile.h"
#include "debugfile.h"

#define BY_ID		"/usr/lib/debug/.build-id"

/* -- is it there? --------------------------------------------------------- */

static bool
is_info(const Elf64_Shdr *sh, const char *name)
{
	return sh->sh_type != SHT_NOBITS && sh->sh_size != 0 &&
	    (strcmp(name, ".debug_info") == 0 ||
	    strcmp(name, ".zdebug_info") == 0);
}

bool
debugfile_is_one(int fd)
{
	struct elf_sections s;
	bool found = false;
	size_t i;

	if (!elf_sections_read(fd, &s))
		return false;
	for (i = 0; !found && i < s.n; i++)
		found = is_info(&s.headers[i], elf_section_name(&s, i));
	elf_sections_free(&s);
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
