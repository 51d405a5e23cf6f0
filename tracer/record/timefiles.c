/* SPDX-License-Identifier: ISC */
/*
 * Files of timelines.  The directory is the owner's own, and so are sessions
 * that may write to it: nothing that was there before is taken for a new one,
 * and no link is followed at its end.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "timefiles.h"

#define NAMES_MAX	99	/* of one session, besides its label */
#define NTH_SIZE	(sizeof(((struct trc_hello *)0)->inst.id) + 12)

static int	 dir_fd = -1;
static char	 name[NAME_MAX - 16], path[PATH_MAX];

/* Opens a directory one level down, and makes it if need be. */
static int
enter(int from_fd, const char *part, bool ours)
{
	int fd;
	struct stat sb;

	if (mkdirat(from_fd, part, 0700) == -1 && errno != EEXIST)
		return -1;
	fd = openat(from_fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
	    (ours ? O_NOFOLLOW : 0));
	/* what others may write to is no place for it */
	if (fd != -1 && ours && (fstat(fd, &sb) == -1 ||
	    sb.st_uid != geteuid() || (sb.st_mode & 022) != 0)) {
		close(fd);
		errno = EPERM;
		fd = -1;
	}
	return fd;
}

static int
open_dir(const char *home)
{
	char parts[] = TIMEFILES_DIR, *part, *save = NULL;
	int fd, next_fd, depth = 0;

	if (home[0] != '/')
		return -1;
	fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (part = strtok_r(parts, "/", &save); fd != -1 && part != NULL;
	    part = strtok_r(NULL, "/", &save)) {
		/* ~/.local/state may be somewhere else */
		next_fd = enter(fd, part, ++depth > 2);
		close(fd);
		fd = next_fd;
	}
	return fd;
}

static void
set_name(const struct trc_hello *h, const char *as)
{
	(void)snprintf(name, sizeof(name), "%s", as);
	(void)snprintf(path, sizeof(path), "%s/%s/%s", h->inst.home,
	    TIMEFILES_DIR, name);
}

static bool
is_free(const char *as)
{
	char file[NAME_MAX + 1];
	struct stat sb;
	int i;

	for (i = 0; store_file_suffix(i) != NULL; i++) {
		(void)snprintf(file, sizeof(file), "%s%s", as,
		    store_file_suffix(i));
		if (fstatat(dir_fd, file, &sb, AT_SYMLINK_NOFOLLOW) == 0)
			return false;
	}
	return true;
}

/* The names after the label: the id, and with numbers that go up. */
static void
nth_name(const struct trc_hello *h, int n, char to[NTH_SIZE])
{
	if (n <= 1)
		(void)snprintf(to, NTH_SIZE, "%s", h->inst.id);
	else
		(void)snprintf(to, NTH_SIZE, "%s-%d", h->inst.id, n);
}

/* The last of those that there are; 0 = none. */
static int
last_name(const struct trc_hello *h)
{
	char as[NTH_SIZE];
	int n;

	for (n = NAMES_MAX; n > 0; n--) {
		nth_name(h, n, as);
		if (!is_free(as))
			break;
	}
	return n;
}

static bool
is_label(const char *s)
{
	return s[0] != '\0' && strchr(s, '/') == NULL;
}

/*
 * A label may be that of a session which was kept, and so may be earlier runs
 * of this one: what was made later has the higher number.
 */
static bool
choose(const struct trc_hello *h)
{
	char as[NTH_SIZE];
	int last = last_name(h);

	if (last == 0 && is_label(h->inst.session) && is_free(h->inst.session)) {
		set_name(h, h->inst.session);
		return true;
	}
	nth_name(h, last + 1, as);
	set_name(h, as);
	return last < NAMES_MAX;
}

int
timefiles_dir(const struct trc_hello *h)
{
	if (dir_fd == -1)
		dir_fd = open_dir(h->inst.home);
	return dir_fd;
}

/* As it is now: it may have been moved away since it was last looked at. */
static void
enter_dir(const struct trc_hello *h)
{
	if (dir_fd != -1)
		close(dir_fd);
	dir_fd = -1;
	(void)timefiles_dir(h);
	path[0] = '\0';
}

int
timefiles_make(const struct trc_hello *h, struct store_files *files)
{
	enter_dir(h);
	if (dir_fd == -1)
		return -1;
	if (choose(h)) {
		if (store_files_at(dir_fd, name, files) == 0)
			return 0;
		/* what is half made is of this one */
		timefiles_remove();
	}
	path[0] = '\0';
	log_warn("the timeline's files cannot be made in %s/%s", h->inst.home,
	    TIMEFILES_DIR);
	return -1;
}

/* A name that was given, of files that there are. */
static bool
take_name(const struct trc_hello *h)
{
	enter_dir(h);
	if (dir_fd == -1 || !is_label(h->timeline) ||
	    strlen(h->timeline) >= sizeof(name) || is_free(h->timeline))
		return false;
	set_name(h, h->timeline);
	return true;
}

int
timefiles_find(const struct trc_hello *h, struct store_files *files)
{
	if (take_name(h) && store_files_at(dir_fd, name, files) == 0)
		return 0;
	path[0] = '\0';
	return -1;
}

void
timefiles_forget(const struct trc_hello *h)
{
	if (take_name(h))
		timefiles_remove();
}

const char *
timefiles_path(void)
{
	return path[0] == '\0' ? NULL : path;
}

const char *
timefiles_name(void)
{
	return path[0] == '\0' ? NULL : name;
}

void
timefiles_remove(void)
{
	char file[NAME_MAX + 1];
	int i;

	for (i = 0; path[0] != '\0' && store_file_suffix(i) != NULL; i++) {
		(void)snprintf(file, sizeof(file), "%s%s", name,
		    store_file_suffix(i));
		if (unlinkat(dir_fd, file, 0) == -1 && errno != ENOENT)
			log_warn("%s", file);
	}
	path[0] = '\0';
}

int
timefiles_temporary(bool *in_memory)
{
	int fd = dir_fd == -1 ? -1 : openat(dir_fd, ".", O_TMPFILE | O_RDWR |
	    O_CLOEXEC, 0600);

	/* not every file system has files without a name */
	*in_memory = fd == -1;
	return fd != -1 ? fd : memfd_create("export", MFD_CLOEXEC);
}
