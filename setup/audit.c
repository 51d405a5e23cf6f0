/* SPDX-License-Identifier: ISC */
/*
 * The audit file, which the logger adds lines to.  In system mode it is root's
 * and opened while there is root, so that no process of the daemon can open it
 * in any other way later.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "setup.h"

static int	audit_fd = -1;		/* a new one */
static enum plan_audit result;

static uid_t
right_owner(void)
{
	return d.mode == MODE_SYSTEM ? 0 : geteuid();
}

/* A user who may rename a directory on the way decides what the file is. */
static int
check_way(const char *path)
{
	char part[WHOLE_NAME_LEN];
	struct stat st;
	char *slash;

	/* a link's own directory, and where it leads, may be others' */
	(void)snprintf(part, sizeof(part), "%s", path);
	for (;;) {
		slash = strrchr(part, '/');
		if (slash == NULL)
			return 0;
		slash[slash == part] = '\0';
		if (lstat(part, &st) == -1) {
			log_error("audit-file %s: %s: %s", path, part,
			    strerror(errno));
			return -1;
		}
		if (S_ISLNK(st.st_mode)) {
			log_error("audit-file %s: %s is a symbolic link; name "
			    "the directory itself", path, part);
			return -1;
		}
		if ((st.st_uid != 0 && st.st_uid != right_owner()) ||
		    ((st.st_mode & 022) != 0 &&
		    (st.st_mode & S_ISVTX) == 0)) {
			log_error("audit-file %s: others than its owner may "
			    "change the directory %s; choose another one",
			    path, part);
			return -1;
		}
		if (slash == part)
			return 0;
	}
}

static int
check_file(const char *path, const struct stat *st)
{
	mode_t most = d.mode == MODE_SYSTEM ? 0640 : 0600;

	if (!S_ISREG(st->st_mode))
		log_error("audit-file %s: it is not a regular file; name one",
		    path);
	else if (st->st_uid != right_owner())
		log_error("audit-file %s: it belongs to uid %u; it must be "
		    "uid %u's", path, st->st_uid, right_owner());
	else if ((st->st_mode & 07777 & ~most) != 0)
		log_error("audit-file %s: it has mode %04o; give it %04o",
		    path, st->st_mode & 07777, most);
	else if ((st->st_mode & 040) != 0 && st->st_gid != 0 &&
	    st->st_gid != d.self.gid)
		log_error("audit-file %s: the group %u may read it; give it "
		    "to the group root or _dlparent", path, st->st_gid);
	else if (st->st_nlink != 1)
		log_error("audit-file %s: it has %lu names; leave it this one",
		    path, (unsigned long)st->st_nlink);
	else
		return 0;
	return -1;
}

static int
give_away(int fd)
{
	if (d.mode == MODE_SYSTEM && fchown(fd, 0, d.self.gid) == -1)
		return -1;
	return fchmod(fd, d.mode == MODE_SYSTEM ? 0640 : 0600);
}

/* Returns an fd to append by, or -1 with a line that says why not. */
static int
open_file(const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC;
	struct stat st;
	int fd;

	if (check_way(path) == -1)
		return -1;
	/* made by nobody else, or there before and looked at */
	fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	if (fd != -1 && give_away(fd) == -1)
		goto fail;
	if (fd == -1 && errno == EEXIST)
		fd = open(path, flags);
	if (fd == -1 || fstat(fd, &st) == -1)
		goto fail;
	if (check_file(path, &st) == 0)
		return fd;
	close(fd);
	return -1;
fail:
	log_error("audit-file %s: %s", path, errno == ELOOP ?
	    "it is a symbolic link; name the file itself" : strerror(errno));
	if (fd != -1)
		close(fd);
	return -1;
}

/*
 * Still the file that is open?  It may have been moved away, as far as
 * _dlparent may look there.
 */
static bool
is_open_file(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return errno == EACCES;
	return st.st_dev == d.force.audit_dev && st.st_ino == d.force.audit_ino;
}

int
audit_find(const struct conf *c)
{
	const char *path = c->audit_file;
	bool same = d.force.audit_ino != 0 &&
	    strcmp(path, d.force.audit_file) == 0;

	result = AUDIT_NONE;
	if (path[0] == '\0')
		return 0;
	result = AUDIT_KEPT;
	if (same && is_open_file(path))
		return 0;
	audit_fd = open_file(path);
	if (audit_fd != -1)
		result = AUDIT_NEW;
	else if (same)
		log_warnx("audit-file %s: it goes on where the old file is; a "
		    "restart begins a new one", path);
	else
		return -1;
	return 0;
}

enum plan_audit
audit_result(void)
{
	return result;
}

int
audit_take(void)
{
	int fd = audit_fd;

	audit_fd = -1;
	return fd;
}
