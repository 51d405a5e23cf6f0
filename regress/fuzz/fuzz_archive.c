/* SPDX-License-Identifier: ISC */
/* links: archiver/unpack.c archiver/paths.c archiver/execpath.c archiver/source.c archiver/beneath.c archiver/report.c common/elfhdr.c common/log.c */
/* covers: archiver/unpack.c archiver/paths.c archiver/execpath.c archiver/source.c */
/*
 * Fuzz target of bundles: the input is the path of the program, a line, and
 * then an archive, which is unpacked into a directory of its own.  Whatever
 * is in it, what has come of it is within its limits, has no rights that a
 * bundle cannot give, and no link leads out of it.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "archiver/unpack.h"

#define BYTES_MAX	(256 * 1024)
#define MEMBERS_MAX	64
#define PATH_LONGEST	200

static char		root[PATH_MAX];
static uint64_t		bytes, members;

/* Without going below its parent, as the link itself stands there. */
static void
check_link(const char *path, int depth)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *p = target;

	must(n > 0);
	target[n] = '\0';
	must(target[0] != '/');
	for (; *p != '\0'; p += *p == '/') {
		size_t len = strcspn(p, "/");

		if (len == 2 && p[0] == '.' && p[1] == '.')
			must(--depth >= 0);
		p += len;
	}
}

static int
look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (ftw->level == 0)
		return 0;
	members++;
	must(strlen(path) <= strlen(root) + 1 + PATH_LONGEST);
	must(type == FTW_F || type == FTW_D || type == FTW_SL ||
	    type == FTW_SLN);
	if (S_ISLNK(st->st_mode))
		check_link(path, ftw->level - 1);
	else
		must((st->st_mode & 07022) == 0);
	if (S_ISREG(st->st_mode) && st->st_nlink == 1)
		bytes += (uint64_t)st->st_size;
	return 0;
}

static int
drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	if (ftw->level > 0)
		must(remove(path) == 0);
	return 0;
}

static void
leave(void)
{
	(void)rmdir(root);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("TMPDIR");

	(void)argc;
	(void)argv;
	(void)snprintf(root, sizeof(root), "%s/fuzz-archive.XXXXXX",
	    dir == NULL ? "/tmp" : dir);
	must(mkdtemp(root) != NULL);
	(void)umask(0);
	(void)setenv("TZ", "UTC0", 1);
	atexit(leave);
	return 0;
}

static void
put_archive(const uint8_t *data, size_t len)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	must(fd != -1 && write(fd, data, len) == (ssize_t)len);
	must(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct unpack_limits max = { .bytes = BYTES_MAX,
	    .members = MEMBERS_MAX, .path = PATH_LONGEST };
	const uint8_t *nl = len == 0 ? NULL : memchr(data, '\n', len);
	struct job job = { 0 };
	char *exec_path;
	int root_fd, r;

	if (nl == NULL || memchr(data, '\0', (size_t)(nl - data)) != NULL)
		return 0;
	exec_path = copy_of(data, (size_t)(nl - data), true);
	put_archive(nl + 1, len - (size_t)(nl + 1 - data));
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	must(root_fd != -1 && unpack_prepare(&job) == 0);
	r = unpack_run(&job, root_fd, &max, exec_path);
	must((r == 0) == (job.code == ERR_OK));
	must(job.code == ERR_OK || job.why[0] != '\0');
	must(job.bytes <= BYTES_MAX && job.members <= MEMBERS_MAX);
	bytes = members = 0;
	must(nftw(root, look, 32, FTW_PHYS) == 0);
	/* the last file may be half there */
	must(members <= job.members && bytes <= 2 * BYTES_MAX);
	if (r == 0)
		must(faccessat(root_fd, exec_path, X_OK, 0) == 0);
	must(nftw(root, drop, 32, FTW_PHYS | FTW_DEPTH) == 0);
	close(root_fd);
	free(exec_path);
	return 0;
}
