/* SPDX-License-Identifier: ISC */
/*
 * Packs the library directories for a debugger on another host.  Links are
 * resolved, as that host may not know any; what has been packed before goes
 * in again as a hard link, so that a library is found under all its names.
 */
#include <sys/stat.h>

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "beneath.h"
#include "pack.h"
#include "seen.h"

#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))

/* Each directory level holds an fd; RLIMIT_NOFILE allows for these. */
#define DEPTH_MAX	40
/* Links to directories in each other would else multiply without end. */
#define ALIASES_MAX	8

struct root {
	const char *name;	/* in the archive and below "/" */
	int fd;
	struct stat st;
};

struct pack {
	struct job *job;
	struct archive *a;
	struct archive_entry *entry;
	uint64_t max;
	uint64_t files;
	struct seen_table seen;
	struct stat above[DEPTH_MAX];	/* directories that we are inside */
	char path[PATH_MAX];
	char buf[65536];
};

static struct root roots[PACK_ROOTS] = {
	{ .name = "lib", .fd = -1 },
	{ .name = "lib64", .fd = -1 },
	{ .name = "usr/lib", .fd = -1 },
	{ .name = "usr/lib/debug", .fd = -1 },
};

static int	pack_dir(struct pack *, int, size_t, bool);

static bool
same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Links may lead anywhere, e.g. through /etc/alternatives, and back. */
static int
open_followed(int dir_fd, const char *name, int flags)
{
	return beneath_open(dir_fd, name, flags | O_NONBLOCK | O_NOCTTY, 0,
	    RESOLVE_NO_MAGICLINKS);
}

static int
skip(struct pack *p)
{
	p->job->skipped++;
	return 0;
}

static int
failed(struct pack *p)
{
	const char *text = archive_error_string(p->a);

	return job_fail(p->job, ERR_SYSROOT_FAILED,
	    "the sysroot could not be packed: %s",
	    text != NULL ? text : "no memory");
}

/* libarchive's way out; pwrite leaves the shared offset at the beginning. */
static la_ssize_t
put_bytes(struct archive *a, void *data, const void *buf, size_t len)
{
	struct pack *p = data;
	ssize_t n;

	if (len > p->max - p->job->bytes) {
		job_fail(p->job, ERR_SYSROOT_FAILED,
		    "the sysroot takes more than %llu bytes, packed",
		    (unsigned long long)p->max);
		return ARCHIVE_FATAL;
	}
	do
		n = pwrite(STDIN_FILENO, buf, len, (off_t)p->job->bytes);
	while (n == -1 && errno == EINTR);
	if (n == -1) {
		if (errno == ENOSPC || errno == EDQUOT)
			job_fail(p->job, ERR_SYSROOT_FAILED, "the sysroot "
			    "could not be packed: %s where state-dir is",
			    errno == ENOSPC ? "no space is left" :
			    "your disk quota is used up");
		archive_set_error(a, errno, "%s", strerror(errno));
		return ARCHIVE_FATAL;
	}
	p->job->bytes += (uint64_t)n;
	return n;
}

static int
put_header(struct pack *p, const struct stat *st, const char *first_name)
{
	struct archive_entry *e = p->entry;
	bool is_dir = S_ISDIR(st->st_mode);

	archive_entry_clear(e);
	archive_entry_set_pathname(e, p->path);
	archive_entry_set_filetype(e, is_dir ? AE_IFDIR : AE_IFREG);
	archive_entry_set_perm(e, (st->st_mode & 0755) | (is_dir ? 0700 :
	    0600));
	archive_entry_set_mtime(e, st->st_mtime, 0);
	if (first_name != NULL)
		archive_entry_set_hardlink(e, first_name);
	archive_entry_set_size(e, is_dir || first_name != NULL ? 0 :
	    st->st_size);
	if (archive_write_header(p->a, e) < ARCHIVE_WARN)
		return failed(p);
	p->job->members++;
	job_progress(p->job);
	return 0;
}

/* A file that shrinks meanwhile is filled up with zeros by libarchive. */
static int
put_data(struct pack *p, int fd, off_t size)
{
	size_t want;
	ssize_t n;
	off_t at;

	for (at = 0; at < size; at += n) {
		want = sizeof(p->buf);
		if ((off_t)want > size - at)
			want = (size_t)(size - at);
		n = pread(fd, p->buf, want, at);
		if (n <= 0)
			return n == 0 ? 0 : skip(p);
		if (archive_write_data(p->a, p->buf, (size_t)n) != n)
			return failed(p);
		job_progress(p->job);
	}
	return 0;
}

static int
pack_file(struct pack *p, int dir_fd, const char *name, const struct stat *as)
{
	const struct seen *before;
	struct stat st;
	int fd, r = -1;

	before = seen_find(&p->seen, as->st_dev, as->st_ino);
	if (before != NULL)
		return put_header(p, as, before->name);
	fd = open_followed(dir_fd, name, O_RDONLY);
	if (fd == -1)
		return skip(p);
	if (fstat(fd, &st) == -1 || !same(as, &st) || !S_ISREG(st.st_mode)) {
		r = skip(p);
		goto out;
	}
	if (seen_add(&p->seen, st.st_dev, st.st_ino, p->path) == NULL) {
		r = failed(p);
		goto out;
	}
	p->files++;
	if (put_header(p, &st, NULL) == 0)
		r = put_data(p, fd, st.st_size);
out:
	close(fd);
	return r;
}

/* Does this directory lie in one that is packed?  Its ancestors tell. */
static bool
inside_roots(int dir_fd)
{
	struct stat st, last;
	int fd = dir_fd, up_fd;
	bool found = false;
	size_t i, steps;

	memset(&last, 0, sizeof(last));
	for (steps = 0; steps < DEPTH_MAX && fd != -1; steps++) {
		if (fstat(fd, &st) == -1 || same(&st, &last))
			break;
		for (i = 0; i < NELEM(roots) && !found; i++)
			found = roots[i].fd != -1 && same(&st, &roots[i].st);
		if (found)
			break;
		last = st;
		up_fd = beneath_open(fd, "..", O_PATH | O_DIRECTORY, 0, 0);
		if (fd != dir_fd)
			close(fd);
		fd = up_fd;
	}
	if (fd != dir_fd && fd != -1)
		close(fd);
	return found;
}

/* May we walk the directory that a link leads to? */
static bool
may_follow(struct pack *p, int fd, const struct stat *st)
{
	struct seen *s;

	if (!inside_roots(fd))
		return false;
	s = seen_find(&p->seen, st->st_dev, st->st_ino);
	if (s == NULL)
		s = seen_add(&p->seen, st->st_dev, st->st_ino, p->path);
	return s != NULL && s->aliases++ < ALIASES_MAX;
}

static bool
is_loop(const struct pack *p, const struct stat *st, size_t depth)
{
	while (depth > 0) {
		if (same(&p->above[--depth], st))
			return true;
	}
	return false;
}

static int
pack_subdir(struct pack *p, int dir_fd, const char *name, size_t depth,
    bool is_link, bool below_link)
{
	struct stat st;
	int fd;

	fd = open_followed(dir_fd, name, O_RDONLY | O_DIRECTORY);
	if (fd == -1)
		return skip(p);
	if (fstat(fd, &st) == -1 || depth >= DEPTH_MAX ||
	    is_loop(p, &st, depth) ||
	    ((is_link || below_link) && !may_follow(p, fd, &st))) {
		close(fd);
		return skip(p);
	}
	p->above[depth] = st;
	/* takes fd */
	return pack_dir(p, fd, depth, is_link || below_link);
}

static int
pack_entry(struct pack *p, int dir_fd, const char *name, size_t depth,
    bool below_link)
{
	struct stat st;
	bool is_link;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return skip(p);
	is_link = S_ISLNK(st.st_mode);
	/* dangling, or a loop of links */
	if (is_link && fstatat(dir_fd, name, &st, 0) == -1)
		return skip(p);
	if (S_ISREG(st.st_mode))
		return pack_file(p, dir_fd, name, &st);
	if (S_ISDIR(st.st_mode))
		return pack_subdir(p, dir_fd, name, depth, is_link,
		    below_link);
	return skip(p);
}

/* p->path is that of the directory, and is again when this returns. */
static int
pack_named(struct pack *p, int dir_fd, const char *name, size_t depth,
    bool below_link)
{
	size_t len = strlen(p->path), more = strlen(name);
	int r;

	if (len + more + 2 > sizeof(p->path))
		return skip(p);
	p->path[len] = '/';
	memcpy(p->path + len + 1, name, more + 1);
	r = pack_entry(p, dir_fd, name, depth, below_link);
	p->path[len] = '\0';
	return r;
}

/* Takes fd, whose stat is p->above[depth]. */
static int
pack_dir(struct pack *p, int fd, size_t depth, bool below_link)
{
	struct dirent *de;
	DIR *dir;
	int r;

	dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return skip(p);
	}
	r = put_header(p, &p->above[depth], NULL);
	while (r == 0 && (de = readdir(dir)) != NULL) {
		if (strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0)
			continue;
		r = pack_named(p, dirfd(dir), de->d_name, depth + 1,
		    below_link);
	}
	closedir(dir);
	return r;
}

/* usr/lib/debug has been met inside usr/lib, if that is there. */
static bool
is_covered(size_t i)
{
	size_t j, len;

	for (j = 0; j < i; j++) {
		len = strlen(roots[j].name);
		if (roots[j].fd != -1 && roots[i].name[len] == '/' &&
		    strncmp(roots[i].name, roots[j].name, len) == 0)
			return true;
	}
	return false;
}

static int
pack_roots(struct pack *p)
{
	size_t i;
	int fd;

	for (i = 0; i < NELEM(roots); i++) {
		if (roots[i].fd == -1 || is_covered(i))
			continue;
		/* the walk takes its own fd: this one is asked to the end */
		fd = beneath_open(roots[i].fd, ".", O_RDONLY | O_DIRECTORY, 0,
		    0);
		if (fd == -1) {
			skip(p);
			continue;
		}
		memcpy(p->path, roots[i].name, strlen(roots[i].name) + 1);
		p->above[0] = roots[i].st;
		if (pack_dir(p, fd, 0, false) == -1)
			return -1;
	}
	if (p->files == 0)
		return job_fail(p->job, ERR_SYSROOT_NO_LIBS,
		    "no system library directories found: /lib, /lib64 and "
		    "/usr/lib are missing, unreadable or empty");
	return 0;
}

static int
open_output(struct pack *p)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == -1 || !S_ISREG(st.st_mode) ||
	    st.st_size != 0)
		return job_fail(p->job, ERR_INTERNAL,
		    "fd 0 is not an empty regular file");
	p->a = archive_write_new();
	p->entry = archive_entry_new();
	/*
	 * The fastest level: the reader waits for the size.  The GNU dialect
	 * takes names of any length and bytes without a character set.
	 */
	if (p->a == NULL || p->entry == NULL ||
	    archive_write_add_filter_gzip(p->a) != ARCHIVE_OK ||
	    archive_write_set_filter_option(p->a, "gzip",
	    "compression-level", "1") != ARCHIVE_OK ||
	    archive_write_set_filter_option(p->a, "gzip", "timestamp",
	    NULL) != ARCHIVE_OK ||
	    archive_write_set_format_gnutar(p->a) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(p->a, 65536) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(p->a, 1) != ARCHIVE_OK ||
	    archive_write_open(p->a, p, NULL, put_bytes, NULL) != ARCHIVE_OK)
		return failed(p);
	return 0;
}

int
pack_prepare(struct job *job, int dir_fds[PACK_ROOTS], size_t *n)
{
	struct root *r;
	int top_fd;

	*n = 0;
	top_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top_fd == -1)
		return job_fail(job, ERR_INTERNAL, "open of /: %s",
		    strerror(errno));
	for (r = roots; r < roots + NELEM(roots); r++) {
		r->fd = open_followed(top_fd, r->name, O_RDONLY | O_DIRECTORY);
		if (r->fd == -1)
			continue;
		if (fstat(r->fd, &r->st) == -1) {
			close(r->fd);
			r->fd = -1;
			continue;
		}
		dir_fds[(*n)++] = r->fd;
	}
	close(top_fd);
	return 0;
}

int
pack_run(struct job *job, uint64_t max)
{
	static struct pack p;
	int r = -1;

	p.job = job;
	p.max = max;
	if (open_output(&p) == 0 && pack_roots(&p) == 0) {
		r = archive_write_close(p.a) == ARCHIVE_OK ? 0 : failed(&p);
	} else if (p.a != NULL)
		/* without this, freeing it would still write */
		(void)archive_write_fail(p.a);
	archive_entry_free(p.entry);
	archive_write_free(p.a);
	return r;
}
