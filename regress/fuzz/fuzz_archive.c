/* SPDX-License-Identifier: ISC */
/* links: archiver/unpack.c archiver/paths.c archiver/execpath.c archiver/source.c archiver/beneath.c archiver/report.c common/base/elfhdr.c common/base/log.c */
/* covers: archiver/unpack.c archiver/paths.c archiver/execpath.c archiver/source.c */
/*
 * Fuzz target of bundles: the input is the path of the program, a line, and
 * then an archive, which is unpacked into a directory of its own.  The files
 * must be within the limits and have no rights that a bundle cannot give, and
 * no link may lead out of the directory, whatever the archive holds.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
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

/*
 * An input may begin with NUL and a letter: what fails, or what there is
 * less of, while the rest of it is unpacked.
 */
enum {
	NO_FAULT,
	MODE_FAULT = 'm',	/* the program's mode cannot be changed */
	STAT_FAULT = 's',	/* what is in the bundle has no status */
	READ_FAULT = 'r',	/* the archive cannot be read to its end */
	SHORT_READS = 'h',	/* it comes in short pieces */
	PIPE = 'p',		/* it is no file */
	FULL = 'w'		/* the disk is */
};
static int fault;

int
fchmod(int fd, mode_t mode)
{
	if (fault == MODE_FAULT && (fcntl(fd, F_GETFL) & O_ACCMODE) ==
	    O_RDONLY) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_fchmod, fd, mode);
}

int
fstat(int fd, struct stat *st)
{
	if (fault == STAT_FAULT && fd != STDIN_FILENO) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fstat, fd, st);
}

ssize_t
pread(int fd, void *buf, size_t len, off_t at)
{
	static const size_t piece = 512;

	if (fault == READ_FAULT && at >= (off_t)piece) {
		errno = EIO;
		return -1;
	}
	if (fault == SHORT_READS || fault == READ_FAULT)
		len = len < piece ? len : piece;
	return syscall(SYS_pread64, fd, buf, len, at);
}

ssize_t
pwrite(int fd, const void *buf, size_t len, off_t at)
{
	if (fault == FULL) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, buf, len, at);
}

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
	(void)argc;
	(void)argv;
	fuzz_room(root, sizeof(root));
	(void)umask(0);
	(void)setenv("TZ", "UTC0", 1);
	atexit(leave);
	return 0;
}

static void
put_archive(const uint8_t *data, size_t len)
{
	int fd = memfd_create("archive", MFD_CLOEXEC), pipe_fd[2];

	if (fault == PIPE) {
		must(pipe(pipe_fd) == 0);
		must(dup2(pipe_fd[0], STDIN_FILENO) == STDIN_FILENO);
		close(pipe_fd[0]);
		close(pipe_fd[1]);
		close(fd);
		return;
	}
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

	fault = NO_FAULT;
	if (len > 1 && data[0] == '\0') {
		fault = data[1];
		data += 2;
		len -= 2;
		nl = memchr(data, '\n', len);
	}
	if (nl == NULL || memchr(data, '\0', (size_t)(nl - data)) != NULL)
		return 0;
	exec_path = copy_of(data, (size_t)(nl - data), true);
	put_archive(nl + 1, len - (size_t)(nl + 1 - data));
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	must(root_fd != -1 && unpack_prepare(&job) == 0);
	r = unpack_run(&job, root_fd, &max, exec_path);
	fault = NO_FAULT;
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
