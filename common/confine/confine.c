/* SPDX-License-Identifier: ISC */
/* Giving up rights: root directory, ids, namespaces, Landlock, limits. */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"

int
confine_chroot(const char *dir)
{
	if (chroot(dir) == -1)
		return -1;
	return chdir("/");
}

static int
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int saved;

	if (fd == -1)
		return -1;
	n = write(fd, text, strlen(text));
	saved = errno;
	close(fd);
	errno = saved;
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

static int
map_self(uid_t uid, gid_t gid)
{
	char map[64];

	(void)snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
	if (write_file("/proc/self/uid_map", map) == -1 ||
	    write_file("/proc/self/setgroups", "deny") == -1)
		return -1;
	(void)snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
	return write_file("/proc/self/gid_map", map);
}

/*
 * An empty tmpfs becomes the root and the old one is detached: nothing of
 * the host's files can be named any more.  Any directory serves as the place
 * of the mount, as nobody else sees it.
 */
static int
empty_root(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
	    "size=4k,nr_inodes=2,mode=0555") == -1 ||
	    chdir("/tmp") == -1 ||
	    syscall(SYS_pivot_root, ".", ".") == -1 ||
	    umount2(".", MNT_DETACH) == -1 || chdir("/") == -1)
		return -1;
	return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY |
	    MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

int
confine_userns(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC |
	    CLONE_NEWUTS) == -1 || map_self(uid, gid) == -1)
		return -1;
	return empty_root();
}

int
confine_ids(uid_t uid, gid_t gid)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (setgroups(0, NULL) == -1 || setresgid(gid, gid, gid) == -1 ||
	    setresuid(uid, uid, uid) == -1)
		return -1;
	if (getresuid(&r, &e, &s) == -1 || getresgid(&rg, &eg, &sg) == -1)
		return -1;
	if (r != uid || e != uid || s != uid || rg != gid || eg != gid ||
	    sg != gid || getgroups(0, NULL) != 0) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

/* The headers of the base system stop at ABI 3; the layout only grows. */
struct ruleset_attr {
	uint64_t	fs, net, scoped;
};
#define FS_ABI1		((1ULL << 13) - 1)
#define FS_REFER	(1ULL << 13)	/* ABI 2 */
#define FS_TRUNCATE	(1ULL << 14)	/* ABI 3 */
#define FS_IOCTL_DEV	(1ULL << 15)	/* ABI 5 */
#define FS_READS	(LANDLOCK_ACCESS_FS_EXECUTE |			\
			 LANDLOCK_ACCESS_FS_READ_FILE |			\
			 LANDLOCK_ACCESS_FS_READ_DIR)
#define NET_CONNECT_TCP	(1ULL << 1)	/* ABI 4 */
#define SCOPE_ALL	3ULL		/* ABI 6: abstract sockets, signals */

static size_t
ruleset_for(int abi, enum landlock_level level, struct ruleset_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->fs = FS_ABI1 | (abi >= 2 ? FS_REFER : 0) |
	    (abi >= 3 ? FS_TRUNCATE : 0) | (abi >= 5 ? FS_IOCTL_DEV : 0);
	if (level == LANDLOCK_READONLY)
		a->fs &= ~FS_READS;
	/* a socket that came with a message may be made to dial as well */
	if (abi >= LANDLOCK_TCP)
		a->net = NET_CONNECT_TCP;
	if (abi >= LANDLOCK_SCOPES && level != LANDLOCK_READONLY)
		a->scoped = SCOPE_ALL;
	/* older kernels refuse a structure that is longer than they know */
	if (abi < LANDLOCK_TCP)
		return sizeof(a->fs);
	return abi < LANDLOCK_SCOPES ? sizeof(a->fs) + sizeof(a->net) : sizeof(*a);
}

/* Below that directory, and nowhere else, files may be read. */
static int
allow_reads(int ruleset_fd, const char *dir)
{
	struct landlock_path_beneath_attr at = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
		.parent_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
	};
	int r, saved;

	if (at.parent_fd == -1)
		return -1;
	r = (int)syscall(SYS_landlock_add_rule, ruleset_fd,
	    LANDLOCK_RULE_PATH_BENEATH, &at, 0);
	saved = errno;
	close(at.parent_fd);
	errno = saved;
	return r;
}

int
confine_landlock(enum landlock_level level)
{
	struct ruleset_attr attr;
	int abi = landlock_abi();
	size_t size;
	int fd, r, saved;

	if (abi == 0)
		return 0;
	size = ruleset_for(abi, level, &attr);
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (fd == -1)
		return -1;
	r = level == LANDLOCK_ETC ? allow_reads(fd, "/etc") : 0;
	if (r == 0)
		r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (r == 0)
		r = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	saved = errno;
	close(fd);
	errno = saved;
	return r;
}

int
confine_scope(void)
{
	const struct ruleset_attr attr = { .scoped = SCOPE_ALL };
	int fd, r, saved;

	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd == -1)
		return -1;
	r = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	saved = errno;
	close(fd);
	errno = saved;
	return r;
}

static int
limit(int resource, int64_t value)
{
	struct rlimit rl = { (rlim_t)value, (rlim_t)value };

	if (value < 0)
		return 0;
	return setrlimit((__rlimit_resource_t)resource, &rl);
}

int
confine_rlimits(int64_t fsize, int64_t nproc, bool core)
{
	if ((!core && limit(RLIMIT_CORE, 0) == -1) ||
	    limit(RLIMIT_FSIZE, fsize) == -1)
		return -1;
	return limit(RLIMIT_NPROC, nproc);
}
