/* SPDX-License-Identifier: ISC */
/* Cgroups of sessions: made at the start, removed after the end. */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "log.h"
#include "loop.h"
#include "role.h"

#define SWEEPS		128
#define SWEEP_MS	100
#define SWEEP_TRIES	100
#define DYING_MS	50
/* of a leaf that cgroup.kill was written in: not writable */
#define KILLED_MODE	0500
/* the tree, a slash and a UUID */
#define LEAF_PATH	(sizeof(settings.cgroup) + 40)

struct sweep {
	struct sid	session;
	unsigned int	tries;		/* 0 = free */
};

static struct sweep	 sweeps[SWEEPS];
static struct loop_timer sweep_timer;

/* Named by the session's id.  False when the host delegates no cgroups. */
static bool
leaf_path(char path[LEAF_PATH], const struct sid *s)
{
	size_t i, len = strlen(settings.cgroup);

	if (len == 0)
		return false;
	memcpy(path, settings.cgroup, len);
	path[len++] = '/';
	for (i = 0; i < sizeof(s->b); i++)
		len += (size_t)snprintf(path + len, LEAF_PATH - len,
		    i >= 4 && i <= 10 && i % 2 == 0 ? "-%02x" : "%02x",
		    s->b[i]);
	return true;
}

static int
put(int dir_fd, const char *file, const char *text)
{
	int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int saved;

	/* a controller that the host has not enabled */
	if (fd == -1)
		return errno == ENOENT ? 0 : -1;
	n = write(fd, text, strlen(text));
	saved = errno;
	close(fd);
	errno = saved;
	return n == -1 ? -1 : 0;
}

static int
put_limit(int dir_fd, const char *file, uint64_t v)
{
	char text[24] = "max";

	if (v != LIMIT_UNLIMITED)
		(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	return put(dir_fd, file, text);
}

int
cgroup_open(const struct sid *s)
{
	char path[LEAF_PATH];

	if (!leaf_path(path, s))
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void
cgroup_kill(const struct sid *s)
{
	int fd = cgroup_open(s);

	if (fd == -1)
		return;
	/* a mark for the next start, which may be another launcher's */
	(void)fchmod(fd, KILLED_MODE);
	(void)put(fd, "cgroup.kill", "1");
	close(fd);
}

/* True when it is gone. */
static bool
remove_leaf(const struct sid *s)
{
	char path[LEAF_PATH];

	return !leaf_path(path, s) || rmdir(path) == 0 ||
	    errno != EBUSY;
}

/*
 * A cgroup that cgroup.kill was used on cannot be used again: the kernel
 * compares its count of kills with that of the cgroup that a process is
 * cloned from, and ends the newcomer.  What is dying there takes
 * milliseconds.
 */
static void
finish_sweep(const struct sid *s)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	size_t i;
	int n;

	for (i = 0; i < SWEEPS; i++) {
		if (sweeps[i].tries == 0 ||
		    memcmp(&sweeps[i].session, s, sizeof(*s)) != 0)
			continue;
		for (n = 0; n < DYING_MS && !remove_leaf(s); n++)
			(void)nanosleep(&ms, NULL);
		sweeps[i].tries = 0;
	}
}

/* The leaf of an earlier run that ended by itself: making one is dear. */
static int
usable_leaf(const struct sid *s)
{
	int fd = cgroup_open(s);
	struct stat st;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_mode & S_IWUSR)
		return fd;
	close(fd);
	return -1;
}

/*
 * A leaf that was killed in is made anew: once cgroup.kill was written, kernels
 * kill whatever is cloned into it for as long as it exists.  The last process
 * of that run may need a moment to leave.
 */
static int
make_leaf(const char *path)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	int tries;

	for (tries = 0; tries < 20; tries++) {
		if (mkdir(path, 0755) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
		if (rmdir(path) == -1 && errno == EBUSY)
			(void)nanosleep(&pause, NULL);
	}
	return 0;
}

int
cgroup_make(const struct sid *s, uint64_t memory, uint64_t pids,
    int *cgroup_fd)
{
	char path[LEAF_PATH];

	*cgroup_fd = -1;
	if (!leaf_path(path, s))
		return 0;
	finish_sweep(s);
	*cgroup_fd = usable_leaf(s);
	if (*cgroup_fd == -1 && make_leaf(path) == 0)
		*cgroup_fd = cgroup_open(s);
	if (*cgroup_fd == -1)
		return -1;
	if (put_limit(*cgroup_fd, "memory.max", memory) == 0 &&
	    put_limit(*cgroup_fd, "pids.max", pids) == 0)
		return 0;
	close(*cgroup_fd);
	*cgroup_fd = -1;
	return -1;
}

static void
sweep_again(void *arg)
{
	bool left = false;
	size_t i;

	(void)arg;
	for (i = 0; i < SWEEPS; i++) {
		if (sweeps[i].tries == 0)
			continue;
		if (remove_leaf(&sweeps[i].session))
			sweeps[i].tries = 0;
		else if (--sweeps[i].tries == 0)
			log_warnx("a cgroup of an ended session stays busy");
		left |= sweeps[i].tries != 0;
	}
	if (left)
		loop_timer_set(&sweep_timer, SWEEP_MS, sweep_again, NULL);
}

void
cgroup_sweep(const struct sid *s)
{
	size_t i;

	if (remove_leaf(s))
		return;
	cgroup_kill(s);
	for (i = 0; i < SWEEPS; i++) {
		if (sweeps[i].tries != 0)
			continue;
		sweeps[i].session = *s;
		sweeps[i].tries = SWEEP_TRIES;
		loop_timer_set(&sweep_timer, SWEEP_MS, sweep_again, NULL);
		return;
	}
	log_warnx("too many cgroups wait to be removed; one stays");
}

/* True when no leaf is left. */
static bool
sweep_once(void)
{
	bool left = false;
	struct dirent *e;
	DIR *dir = opendir(settings.cgroup);

	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_type == DT_DIR && e->d_name[0] != '.' &&
		    unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) == -1)
			left |= errno == EBUSY;
	if (dir != NULL)
		closedir(dir);
	return !left;
}

void
cgroup_sweep_all(void)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	int tries;

	/* the last process of a tree leaves its cgroup a moment after it died */
	for (tries = 0; tries < 100 && !sweep_once(); tries++)
		(void)nanosleep(&pause, NULL);
}
