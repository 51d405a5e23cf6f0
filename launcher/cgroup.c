/* SPDX-License-Identifier: ISC */
/*
 * Cgroups of users, of their sessions and of these's debuggers: made at the
 * start, removed after the end.
 */
#include <sys/stat.h>
#include <sys/time.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "base/loop.h"
#include "cgroup.h"
#include "wire/proto.h"
#include "wire/role.h"

#define SWEEPS		128
#define SWEEP_MS	100
#define SWEEP_TRIES	100
/* How long others wait while the kernel makes a limit true. */
#define LIMIT_US	5000
/* of a leaf that cgroup.kill was written in: not writable */
#define KILLED_MODE	0500

struct sweep {
	struct cgroup_leaf leaf;
	unsigned int	tries;		/* 0 = free */
};

static struct sweep	 sweeps[SWEEPS];
static struct loop_timer sweep_timer;

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

static int
put_limits(int dir_fd, const struct cgroup_limits *l)
{
	return put_limit(dir_fd, "memory.max", l->memory) == -1 ||
	    put_limit(dir_fd, "pids.max", l->pids) == -1 ? -1 : 0;
}

/* -- of users ------------------------------------------------------------- */

static int
put_user(int dir_fd, const struct cgroup_limits *l)
{
	/* what was swapped out would not be counted as memory any more */
	if (put(dir_fd, "memory.swap.max", l->memory == LIMIT_UNLIMITED ?
	    "max" : "0") == -1)
		return -1;
	return put_limits(dir_fd, l);
}

/* Sessions may be limited and counted by themselves, too. */
static void
enable_controllers(int dir_fd)
{
	static const char *const wanted[] = { "+memory", "+pids", "+cpu" };
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		(void)put(dir_fd, "cgroup.subtree_control", wanted[i]);
}

/* An existing cgroup already has its limits, set when made or changed since. */
static int
make_user(uint32_t uid, const struct cgroup_limits *l)
{
	char path[LEAF_PATH];
	int dir_fd, saved;

	(void)leaf_user_path(path, uid);
	if (mkdir(path, 0755) == -1)
		return errno == EEXIST ? 0 : -1;
	dir_fd = leaf_open_user(uid);
	/* idproc looks for sessions in it, and no role's umask lets it */
	if (dir_fd != -1 && fchmod(dir_fd, 0755) == 0 &&
	    put_user(dir_fd, l) == 0) {
		enable_controllers(dir_fd);
		close(dir_fd);
		return 0;
	}
	saved = errno;
	if (dir_fd != -1)
		close(dir_fd);
	/* the next start may not take it for one with limits */
	(void)rmdir(path);
	errno = saved;
	return -1;
}

static void
interrupt(int sig)
{
	(void)sig;
}

/*
 * A limit below the memory in use holds at once, but the write to memory.max
 * returns only when the kernel has ended enough processes, which may take long.
 * A signal interrupts the write, so that nothing else waits for it; the kernel
 * goes on when the processes want more memory.
 */
static int
put_user_soon(int dir_fd, const struct cgroup_limits *l)
{
	const struct itimerval off = { { 0, 0 }, { 0, 0 } };
	const struct itimerval on = { { 0, LIMIT_US }, { 0, LIMIT_US } };
	struct sigaction sa = { .sa_handler = interrupt }, old;
	int r, saved;

	if (sigaction(SIGALRM, &sa, &old) == -1 ||
	    setitimer(ITIMER_REAL, &on, NULL) == -1)
		return -1;
	r = put_user(dir_fd, l);
	saved = errno;
	(void)setitimer(ITIMER_REAL, &off, NULL);
	(void)sigaction(SIGALRM, &old, NULL);
	errno = saved;
	return r;
}

bool
cgroup_limit_user(uint32_t uid, const struct cgroup_limits *l)
{
	int dir_fd = leaf_open_user(uid), r, saved;

	/* it will be made with them */
	if (dir_fd == -1)
		return errno == ENOENT;
	r = put_user_soon(dir_fd, l);
	saved = errno;
	close(dir_fd);
	errno = saved;
	return r == 0;
}

/* -- of sessions ---------------------------------------------------------- */

void
cgroup_kill(const struct cgroup_leaf *l)
{
	int fd = leaf_open(l);

	if (fd == -1)
		return;
	/* a mark for the next start, which may be another launcher's */
	(void)fchmod(fd, KILLED_MODE);
	(void)put(fd, "cgroup.kill", "1");
	close(fd);
}

/* True when the leaf is gone.  A user's cgroup cannot go before its leaves. */
static bool
remove_leaf(const struct cgroup_leaf *l)
{
	char path[LEAF_PATH];

	if (!leaf_path(path, l))
		return true;
	if (rmdir(path) == -1 && errno == EBUSY)
		return false;
	(void)leaf_user_path(path, l->uid);
	(void)rmdir(path);
	return true;
}

static bool
same(const struct cgroup_leaf *a, const struct cgroup_leaf *b)
{
	return a->uid == b->uid && a->of == b->of &&
	    memcmp(&a->session, &b->session, sizeof(a->session)) == 0;
}

/*
 * A cgroup that cgroup.kill was used on cannot be used again: the kernel
 * compares its count of kills with that of the cgroup that a process is cloned
 * from, and ends the newcomer.  Returns false while processes are dying there,
 * which takes milliseconds.
 */
static bool
is_swept(const struct cgroup_leaf *l)
{
	size_t i;

	for (i = 0; i < SWEEPS; i++) {
		if (sweeps[i].tries == 0 || !same(&sweeps[i].leaf, l))
			continue;
		if (!remove_leaf(l))
			return false;
		sweeps[i].tries = 0;
	}
	return true;
}

/* The leaf of an earlier run that ended by itself: making one is dear. */
static int
usable_leaf(const struct cgroup_leaf *l)
{
	int fd = leaf_open(l);
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
 * kill whatever is cloned into it for as long as it exists.  -1 with EBUSY
 * while the last process of that run has not left it.
 */
static int
make_leaf(const struct cgroup_leaf *l)
{
	char path[LEAF_PATH];

	(void)leaf_path(path, l);
	if (mkdir(path, 0755) == 0)
		return 0;
	if (errno != EEXIST || (rmdir(path) == -1 && errno != ENOENT))
		return -1;
	return mkdir(path, 0755);
}

int
cgroup_make(const struct cgroup_leaf *l, const struct cgroup_limits *user,
    const struct cgroup_limits *own, int *cgroup_fd)
{
	*cgroup_fd = -1;
	if (settings.cgroup[0] == '\0')
		return 0;
	if (!is_swept(l)) {
		errno = EBUSY;
		return -1;
	}
	*cgroup_fd = usable_leaf(l);
	if (*cgroup_fd == -1 && make_user(l->uid, user) == 0 &&
	    make_leaf(l) == 0)
		*cgroup_fd = leaf_open(l);
	if (*cgroup_fd == -1)
		return -1;
	if (put_limits(*cgroup_fd, own) == 0)
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
		if (remove_leaf(&sweeps[i].leaf))
			sweeps[i].tries = 0;
		else if (--sweeps[i].tries == 0)
			log_warnx("a cgroup of an ended session stays busy");
		left |= sweeps[i].tries != 0;
	}
	if (left)
		loop_timer_set(&sweep_timer, SWEEP_MS, sweep_again, NULL);
}

void
cgroup_sweep(const struct cgroup_leaf *l)
{
	size_t i;

	if (remove_leaf(l))
		return;
	cgroup_kill(l);
	for (i = 0; i < SWEEPS; i++) {
		if (sweeps[i].tries != 0)
			continue;
		sweeps[i].leaf = *l;
		sweeps[i].tries = SWEEP_TRIES;
		/* sessions that end all the time must not put it off */
		if (sweep_timer.slot == 0)
			loop_timer_set(&sweep_timer, SWEEP_MS, sweep_again,
			    NULL);
		return;
	}
	log_warnx("too many cgroups wait to be removed; one stays");
}

/* Removes the cgroups below dir, levels deep; true when none is left. */
static bool
sweep_dir(DIR *dir, int levels)
{
	bool left = false;
	struct dirent *e;
	DIR *sub;
	int fd;

	while ((e = readdir(dir)) != NULL) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		fd = levels == 1 ? -1 : openat(dirfd(dir), e->d_name,
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd != -1 && (sub = fdopendir(fd)) != NULL) {
			left |= !sweep_dir(sub, levels - 1);
			closedir(sub);
		} else if (fd != -1)
			close(fd);
		if (unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) == -1)
			left |= errno == EBUSY;
	}
	return !left;
}

void
cgroup_sweep_all(void)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	bool done = false;
	int tries;
	DIR *dir;

	/* the last process of a tree leaves its cgroup a moment after it died */
	for (tries = 0; tries < 100 && !done; tries++) {
		if (tries > 0)
			(void)nanosleep(&pause, NULL);
		dir = opendir(settings.cgroup);
		done = dir == NULL || sweep_dir(dir, 2);
		if (dir != NULL)
			closedir(dir);
	}
}
