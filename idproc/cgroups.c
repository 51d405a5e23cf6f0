/* SPDX-License-Identifier: ISC */
/*
 * Where in the tree of control groups an id is.  The kernel tells a socket's
 * group as a number, which is the inode of the group's directory.
 */
#include <sys/stat.h>
#include <sys/vfs.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroups.h"
#include "origin.h"

/*
 * Users may make groups in the parts delegated to them.  The walk is bounded,
 * and for each delegated part by itself: a user who fills one part hides no
 * other user's groups.
 */
#define DEPTH_MAX	32
#define DIRS_MAX	20000	/* of those that root has made */
#define DELEGATED_MAX	4000
#define KNOWN_MAX	64

static const char	*sessions_dir;
static uint64_t		 sessions_id;
static char		 root_dir[PATH_MAX];
static uint64_t		 root_id;
static uid_t		 root_uid;
static unsigned int	 budget_of_root;
/* ids known to be outside; the oldest is replaced */
static uint64_t		 known[KNOWN_MAX];
static size_t		 known_next;

static bool
is_cgroup2(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* The mount point is the last directory upwards that is still cgroup v2. */
static void
find_root(void)
{
	char up[PATH_MAX];
	char *slash;

	(void)snprintf(root_dir, sizeof(root_dir), "%s", sessions_dir);
	for (;;) {
		(void)snprintf(up, sizeof(up), "%s", root_dir);
		slash = strrchr(up, '/');
		if (slash == NULL || slash == up)
			return;
		*slash = '\0';
		if (!is_cgroup2(up))
			return;
		memcpy(root_dir, up, sizeof(root_dir));
	}
}

int
cgroups_init(const char *sessions)
{
	struct stat st;

	sessions_dir = sessions;
	/* statfs() leaves errno alone when it works: another file system */
	errno = ENOTSUP;
	if (!is_cgroup2(sessions))
		return -1;
	if (stat(sessions, &st) == -1)
		return -1;
	sessions_id = st.st_ino;
	find_root();
	if (stat(root_dir, &st) == -1)
		return -1;
	root_id = st.st_ino;
	root_uid = st.st_uid;
	return 0;
}

static DIR *
open_dir(int at_fd, const char *name)
{
	int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	DIR *d;

	if (fd == -1) {
		origin_missed();
		return NULL;
	}
	d = fdopendir(fd);
	if (d == NULL) {
		origin_missed();
		close(fd);
	}
	return d;
}

static bool
is_group(const struct dirent *de)
{
	return de->d_type == DT_DIR && de->d_name[0] != '.';
}

/* Whether so many levels of groups below that directory have it. */
static bool
has_group(int at_fd, const char *name, int levels, uint64_t id)
{
	DIR *d = open_dir(at_fd, name);
	struct dirent *de;
	bool found = false;

	while (d != NULL && !found && (de = readdir(d)) != NULL)
		found = is_group(de) && (de->d_ino == id || (levels > 1 &&
		    has_group(dirfd(d), de->d_name, levels - 1, id)));
	if (d != NULL)
		closedir(d);
	return found;
}

/* Users have theirs, and in it one for each session. */
static bool
is_of_session(uint64_t id)
{
	return id == sessions_id || has_group(AT_FDCWD, sessions_dir, 2, id);
}

static bool	is_below(DIR *, uint64_t, int, unsigned int *);

/* The same below a directory of d, which may be where a delegation begins. */
static bool
is_in(DIR *d, const char *name, uint64_t id, int depth, unsigned int *budget)
{
	unsigned int delegated = DELEGATED_MAX;
	DIR *sub = open_dir(dirfd(d), name);
	struct stat st;

	if (sub == NULL)
		return false;
	if (budget == &budget_of_root &&
	    (fstat(dirfd(sub), &st) == -1 || st.st_uid != root_uid))
		budget = &delegated;
	return is_below(sub, id, depth, budget);
}

/* Looks below d for id, past the sessions; takes d. */
static bool
is_below(DIR *d, uint64_t id, int depth, unsigned int *budget)
{
	struct dirent *de;
	bool found = false;

	while (!found && *budget > 0 && (de = readdir(d)) != NULL) {
		if (!is_group(de) || de->d_ino == sessions_id)
			continue;
		(*budget)--;
		found = de->d_ino == id || (depth < DEPTH_MAX &&
		    is_in(d, de->d_name, id, depth + 1, budget));
	}
	closedir(d);
	return found;
}

static bool
is_outside(uint64_t id)
{
	DIR *d;

	if (id == root_id)
		return true;
	budget_of_root = DIRS_MAX;
	d = open_dir(AT_FDCWD, root_dir);
	return d != NULL && is_below(d, id, 0, &budget_of_root);
}

enum cgroup_place
cgroups_place(uint64_t id)
{
	size_t i;

	if (id == 0)
		return CGROUP_UNKNOWN;
	for (i = 0; i < KNOWN_MAX; i++)
		if (known[i] == id)
			return CGROUP_OUTSIDE;
	if (is_of_session(id))
		return CGROUP_SESSION;
	/*
	 * A group that is nowhere may have been a session's that has ended
	 * meanwhile: only a group that is seen outside counts as outside.
	 */
	if (!is_outside(id))
		return CGROUP_UNKNOWN;
	known[known_next++ % KNOWN_MAX] = id;
	return CGROUP_OUTSIDE;
}
