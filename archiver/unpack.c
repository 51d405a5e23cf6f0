/* SPDX-License-Identifier: ISC */
/*
 * Unpacks one hostile archive.  libarchive only reads: every file, directory
 * and link is made here, by fd below the root, never through a link.
 */
#include <sys/stat.h>

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "execpath.h"
#include "paths.h"
#include "source.h"
#include "unpack.h"

struct unpack {
	struct job *job;
	const struct unpack_limits *max;
	struct archive *a;
	int root_fd;
	char path[PATH_MAX];	/* of the member at hand, clean */
	char shown[JOB_NAME];	/* the same, for sentences */
};

/* Made before the filter is loaded, read after. */
static struct source source;

static int
refuse(struct unpack *u, const char *why)
{
	return job_fail(u->job, ERR_EXTRACT_FAILED, "member \"%s\" %s",
	    u->shown, why);
}

static int
refuse_errno(struct unpack *u, int error)
{
	if (error == ENOSPC || error == EDQUOT)
		return refuse(u, "does not fit: no space left for the bundle");
	if (error == ELOOP)
		return refuse(u, "is below a symlink");
	if (error == ENOTDIR)
		return refuse(u, "is below something that is no directory");
	return refuse(u, strerror(error));
}

static int
damaged(struct unpack *u)
{
	const char *text = archive_error_string(u->a);

	return job_fail(u->job, ERR_EXTRACT_FAILED, "damaged archive: %s",
	    text != NULL ? text : "it cannot be read");
}

static int
count_member(struct unpack *u)
{
	if (u->job->members >= u->max->members)
		return job_fail(u->job, ERR_EXTRACT_FAILED,
		    "more than %llu members (bundle-max-members)",
		    (unsigned long long)u->max->members);
	u->job->members++;
	return 0;
}

/* Is there room for this many bytes more?  Does not take it. */
static int
want_bytes(struct unpack *u, uint64_t more)
{
	if (more <= u->max->bytes - u->job->bytes)
		return 0;
	return job_fail(u->job, ERR_MAX_BYTES, "unpacks to more than %llu "
	    "bytes", (unsigned long long)u->max->bytes);
}

/* The modes that a careful umask would leave, and the owner's full access. */
static mode_t
file_mode(struct archive_entry *e)
{
	return (archive_entry_perm(e) & 0755) | 0600;
}

static mode_t
dir_mode(struct archive_entry *e)
{
	return (archive_entry_perm(e) & 0755) | 0700;
}

/* Opens one directory, making it if need be.  The caller owns the fd. */
static int
enter(struct unpack *u, int dir_fd, const char *name)
{
	int fd;

	fd = beneath_open(dir_fd, name, O_PATH | O_DIRECTORY, 0,
	    BENEATH_STRICT);
	if (fd != -1)
		return fd;
	if (errno != ENOENT)
		return refuse_errno(u, errno);
	if (count_member(u) == -1)
		return -1;
	if (mkdirat(dir_fd, name, 0755) == -1)
		return refuse_errno(u, errno);
	fd = beneath_open(dir_fd, name, O_PATH | O_DIRECTORY, 0,
	    BENEATH_STRICT);
	return fd != -1 ? fd : refuse_errno(u, errno);
}

/* Makes all directories of a path that lack; the caller owns the fd. */
static int
enter_all(struct unpack *u, char *dirs)
{
	int fd, next_fd;
	char *next;

	fd = beneath_open(u->root_fd, ".", O_PATH | O_DIRECTORY, 0,
	    BENEATH_STRICT);
	if (fd == -1)
		return refuse_errno(u, errno);
	for (; fd != -1 && dirs != NULL; dirs = next) {
		next = strchr(dirs, '/');
		if (next != NULL)
			*next++ = '\0';
		next_fd = enter(u, fd, dirs);
		close(fd);
		fd = next_fd;
	}
	return fd;
}

/*
 * Opens the directory that holds the member, making what lacks, and points
 * leaf to the last component.  The caller owns the fd.
 */
static int
open_parent(struct unpack *u, const char **leaf)
{
	char dirs[PATH_MAX];
	char *slash;
	int fd;

	memcpy(dirs, u->path, strlen(u->path) + 1);
	slash = strrchr(dirs, '/');
	if (slash == NULL) {
		*leaf = u->path;
		return enter_all(u, NULL);
	}
	*slash = '\0';
	*leaf = u->path + (slash - dirs) + 1;
	fd = beneath_open(u->root_fd, dirs, O_PATH | O_DIRECTORY, 0,
	    BENEATH_STRICT);
	if (fd == -1 && errno == ENOENT)
		return enter_all(u, dirs);
	return fd != -1 ? fd : refuse_errno(u, errno);
}

/* The last of several members with one name wins, if none is a directory. */
static int
clear_place(struct unpack *u, int dir_fd, const char *leaf)
{
	if (unlinkat(dir_fd, leaf, 0) == 0)
		return 0;
	if (errno == EISDIR || errno == EPERM)
		return refuse(u, "would replace a directory");
	return refuse_errno(u, errno);
}

static int
write_block(int fd, const char *buf, size_t len, off_t at)
{
	ssize_t n;

	while (len > 0) {
		n = pwrite(fd, buf, len, at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		buf += n;
		len -= (size_t)n;
		at += n;
	}
	return 0;
}

/* Copies the member's data, holes kept; *end is where the last block ends. */
static int
copy_data(struct unpack *u, int fd, uint64_t *end)
{
	const void *buf;
	size_t len;
	la_int64_t at;
	uint64_t top;
	int r;

	for (*end = 0;;) {
		r = archive_read_data_block(u->a, &buf, &len, &at);
		if (r == ARCHIVE_EOF)
			return 0;
		if (r != ARCHIVE_OK)
			return damaged(u);
		if (at < 0 || __builtin_add_overflow((uint64_t)at, len, &top))
			return refuse(u, "has data at impossible offsets");
		if (want_bytes(u, top) == -1)
			return -1;
		if (write_block(fd, buf, len, at) == -1)
			return refuse_errno(u, errno);
		if (top > *end)
			*end = top;
		job_progress(u->job);
	}
}

static int
fill_file(struct unpack *u, int fd, struct archive_entry *e)
{
	uint64_t end, size;

	if (copy_data(u, fd, &end) == -1)
		return -1;
	size = archive_entry_size_is_set(e) ?
	    (uint64_t)archive_entry_size(e) : end;
	if (end > size)
		return refuse(u, "has more data than its header says");
	/* a hole at the end is in no block */
	if (size > end && ftruncate(fd, (off_t)size) == -1)
		return refuse_errno(u, errno);
	u->job->bytes += size;
	return 0;
}

static int
set_attributes(struct unpack *u, int fd, struct archive_entry *e)
{
	struct timespec times[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };

	if (fchmod(fd, file_mode(e)) == -1)
		return refuse_errno(u, errno);
	/* debuggers compare a program's age with that of its sources */
	if (archive_entry_mtime_is_set(e)) {
		times[1].tv_sec = archive_entry_mtime(e);
		times[1].tv_nsec = 0;
		if (futimens(fd, times) == -1 && errno != EINVAL)
			return refuse_errno(u, errno);
	}
	return 0;
}

static int
put_file(struct unpack *u, int dir_fd, const char *leaf,
    struct archive_entry *e)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL;
	int fd, r = -1;

	fd = beneath_open(dir_fd, leaf, flags, 0600, BENEATH_STRICT);
	if (fd == -1 && errno == EEXIST) {
		if (clear_place(u, dir_fd, leaf) == -1)
			return -1;
		fd = beneath_open(dir_fd, leaf, flags, 0600, BENEATH_STRICT);
	}
	if (fd == -1)
		return refuse_errno(u, errno);
	if (fill_file(u, fd, e) == 0)
		r = set_attributes(u, fd, e);
	close(fd);
	return r;
}

static int
put_dir(struct unpack *u, int dir_fd, const char *leaf,
    struct archive_entry *e)
{
	int fd, r;

	if (mkdirat(dir_fd, leaf, dir_mode(e)) == 0)
		return 0;
	if (errno != EEXIST)
		return refuse_errno(u, errno);
	fd = beneath_open(dir_fd, leaf, O_RDONLY | O_DIRECTORY, 0,
	    BENEATH_STRICT);
	if (fd == -1)
		return refuse(u, "is a directory in place of something else");
	r = fchmod(fd, dir_mode(e));
	close(fd);
	return r == 0 ? 0 : refuse_errno(u, errno);
}

static int
put_symlink(struct unpack *u, int dir_fd, const char *leaf,
    struct archive_entry *e)
{
	const char *target = archive_entry_symlink(e);
	const char *wrong;

	if (target == NULL)
		target = "";
	wrong = path_link_target(u->path, target, u->max->path);
	if (wrong != NULL)
		return refuse(u, wrong);
	/* long targets take memory of the same tmpfs */
	if (want_bytes(u, strlen(target)) == -1)
		return -1;
	u->job->bytes += strlen(target);
	if (symlinkat(target, dir_fd, leaf) == 0)
		return 0;
	if (errno != EEXIST)
		return refuse_errno(u, errno);
	if (clear_place(u, dir_fd, leaf) == -1)
		return -1;
	if (symlinkat(target, dir_fd, leaf) == -1)
		return refuse_errno(u, errno);
	return 0;
}

static int
link_to(struct unpack *u, int from_fd, const char *from, int dir_fd,
    const char *leaf)
{
	struct stat st;

	/*
	 * A second name for a symlink would be read from another directory,
	 * where the same ".." may lead out.
	 */
	if (fstatat(from_fd, from, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISREG(st.st_mode))
		return refuse(u, "is a hard link to no file unpacked before");
	if (linkat(from_fd, from, dir_fd, leaf, 0) == 0)
		return 0;
	if (errno != EEXIST)
		return refuse_errno(u, errno);
	if (clear_place(u, dir_fd, leaf) == -1)
		return -1;
	if (linkat(from_fd, from, dir_fd, leaf, 0) == -1)
		return refuse_errno(u, errno);
	return 0;
}

static int
put_hardlink(struct unpack *u, int dir_fd, const char *leaf,
    struct archive_entry *e)
{
	char from[PATH_MAX];
	const char *target = archive_entry_hardlink(e);
	char *slash;
	int from_fd, r;

	if (path_clean(from, sizeof(from), target, u->max->path) != NULL)
		return refuse(u, "is a hard link to outside of the bundle");
	if (strcmp(from, u->path) == 0)
		return refuse(u, "is a hard link to itself");
	slash = strrchr(from, '/');
	if (slash != NULL)
		*slash = '\0';
	from_fd = beneath_open(u->root_fd, slash != NULL ? from : ".",
	    O_PATH | O_DIRECTORY, 0, BENEATH_STRICT);
	if (from_fd == -1)
		return refuse(u, "is a hard link to no file unpacked before");
	r = link_to(u, from_fd, slash != NULL ? slash + 1 : from, dir_fd,
	    leaf);
	close(from_fd);
	return r;
}

static int
put_special(struct unpack *u, int dir_fd, const char *leaf,
    struct archive_entry *e)
{
	mode_t type = archive_entry_filetype(e);

	(void)dir_fd;
	(void)leaf;
	if (type == AE_IFIFO)
		return refuse(u, "is a FIFO");
	if (type == AE_IFSOCK)
		return refuse(u, "is a socket");
	if (type == AE_IFCHR || type == AE_IFBLK)
		return refuse(u, "is a device node");
	return refuse(u, "is of an unknown type");
}

typedef int	(*put_fn)(struct unpack *, int, const char *,
		    struct archive_entry *);

static put_fn
put_for(struct archive_entry *e)
{
	if (archive_entry_hardlink(e) != NULL)
		return put_hardlink;
	switch (archive_entry_filetype(e)) {
	case AE_IFREG:
		return put_file;
	case AE_IFDIR:
		return put_dir;
	case AE_IFLNK:
		return put_symlink;
	default:
		return put_special;
	}
}

/*
 * A size is believed only as far as it can make the job fail early; it goes
 * for members of any type, as libarchive reads past what they are said to hold.
 */
static int
check_size(struct unpack *u, struct archive_entry *e)
{
	if (!archive_entry_size_is_set(e))
		return 0;
	if (archive_entry_size(e) < 0)
		return refuse(u, "has a negative size");
	return want_bytes(u, (uint64_t)archive_entry_size(e));
}

static int
put_member(struct unpack *u, struct archive_entry *e)
{
	const char *name = archive_entry_pathname(e);
	const char *leaf, *wrong;
	put_fn put = put_for(e);
	int dir_fd, r;

	if (count_member(u) == -1)
		return -1;
	job_name(u->shown, name != NULL ? name : "");
	if (name == NULL || name[0] == '\0')
		return refuse(u, "has no name");
	wrong = path_clean(u->path, sizeof(u->path), name, u->max->path);
	if (wrong != NULL)
		return refuse(u, wrong);
	if (check_size(u, e) == -1)
		return -1;
	if (put == put_special)
		return put(u, -1, NULL, e);
	/* "./" is how many a tar begins: the root is there already */
	if (u->path[0] == '\0')
		return put == put_dir ? 0 : refuse(u, "has no name");
	dir_fd = open_parent(u, &leaf);
	if (dir_fd == -1)
		return -1;
	r = put(u, dir_fd, leaf, e);
	close(dir_fd);
	return r;
}

/* Each layer of compression is one more bomb inside the bomb. */
static int
check_layers(struct unpack *u)
{
	/* the last filter is the plain file */
	if (archive_filter_count(u->a) > 2)
		return job_fail(u->job, ERR_EXTRACT_FAILED,
		    "compressed more than once");
	return 0;
}

static int
first_failed(struct unpack *u)
{
	/* a zip that begins with the end of its directory */
	if (source.size == 0 || source_begins(&source, "PK\005\006"))
		return job_fail(u->job, ERR_EXTRACT_FAILED,
		    "the archive is empty");
	/* no format has bid for it; EILSEQ is libarchive's word for that */
	if (archive_format(u->a) == 0 && archive_errno(u->a) == EILSEQ)
		return job_fail(u->job, ERR_EXTRACT_FAILED,
		    "not a tar or zip archive (tar may be compressed by "
		    "gzip, xz or zstd)");
	return damaged(u);
}

static int
put_all(struct unpack *u)
{
	struct archive_entry *e;
	int r;

	for (;;) {
		r = archive_read_next_header(u->a, &e);
		if (u->job->members == 0 && r < ARCHIVE_WARN)
			return first_failed(u);
		if (r == ARCHIVE_EOF)
			break;
		/* a warning is an attribute that cannot be kept */
		if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
			return damaged(u);
		if (u->job->members == 0 && check_layers(u) == -1)
			return -1;
		if (put_member(u, e) == -1)
			return -1;
		job_progress(u->job);
	}
	if (u->job->members == 0)
		return job_fail(u->job, ERR_EXTRACT_FAILED,
		    "the archive is empty");
	return 0;
}

int
unpack_prepare(struct job *job)
{
	const char *lacks = source_prepare(&source);

	if (lacks == NULL)
		return 0;
	return job_fail(job, ERR_INTERNAL, "libarchive cannot read gzip, xz, "
	    "zstd, tar or zip: %s", lacks);
}

int
unpack_run(struct job *job, int root_fd, const struct unpack_limits *max,
    const char *exec_path)
{
	struct unpack u;
	int r = -1;

	memset(&u, 0, sizeof(u));
	u.job = job;
	u.max = max;
	u.a = source.a;
	u.root_fd = root_fd;
	if (execpath_check(job, exec_path, max->path) == -1)
		goto out;
	if (source_open(&source, STDIN_FILENO) != ARCHIVE_OK) {
		first_failed(&u);
		goto out;
	}
	if (put_all(&u) == 0)
		r = execpath_ready(job, root_fd, exec_path,
		    max->narrow);
out:
	source_free(&source);
	return r;
}
