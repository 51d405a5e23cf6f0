/* SPDX-License-Identifier: ISC */
/* The mounts of sessions: two kinds of root, masks, /proc. */
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "mounts.h"
#include "role.h"

#define QUIET	(MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * The new root is built over /proc: it is there on every host and the only
 * directory that nothing is taken from.
 */
#define ROOT	"/proc"
#define ROOT_OPTIONS	"mode=0755,size=256m,nr_inodes=65536"

int
mounts_network(int *sock_fd)
{
	int net_fd;

	if (unshare(CLONE_NEWNET) == -1)
		child_die(STEP_NAMESPACES);
	*sock_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*sock_fd == -1)
		child_die(STEP_NETWORK);
	net_fd = ioctl(*sock_fd, SIOCGSKNS);
	if (net_fd == -1)
		child_die(STEP_NETWORK);
	return net_fd;
}

void
mounts_network_up(int sock_fd)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	if (ioctl(sock_fd, SIOCSIFFLAGS, &ifr) == -1)
		child_die(STEP_NETWORK);
}

void
mounts_private(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)
		child_die(STEP_MOUNT);
}

bool
mounts_mask(const char *path)
{
	if (mount("none", path, "tmpfs", QUIET | MS_RDONLY,
	    "size=4k,nr_inodes=2,mode=0555") == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
		child_die(STEP_MOUNT);
	return false;
}

static void
mount_proc(const char *path)
{
	if (mount("proc", path, "proc", QUIET, NULL) == -1)
		child_die(STEP_PROC);
}

/* The owner may have been given a cgroup; its sessions may not leave theirs. */
static void
freeze_cgroups(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	if (mount_setattr(AT_FDCWD, "/sys/fs/cgroup", AT_RECURSIVE, &attr,
	    sizeof(attr)) == -1 && errno != ENOENT && errno != EINVAL)
		child_die(STEP_MOUNT);
}

static int
try_dir(const char *path, mode_t mode)
{
	return mkdir(path, mode) == -1 && errno != EEXIST ? -1 : 0;
}

static void
make_dir(const char *path, mode_t mode)
{
	if (try_dir(path, mode) == -1)
		child_die(STEP_MOUNT);
}

/* mkdir -p of an absolute path below the working directory; -1 with errno. */
static int
try_path(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	char *p;

	if ((size_t)snprintf(part, sizeof(part), ".%s", path) >= sizeof(part)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (p = strchr(part + 2, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (try_dir(part, 0755) == -1)
			return -1;
		*p = '/';
	}
	return try_dir(part, mode);
}

/* All mounts below the absolute path appear at the same place in the root. */
static void
bind_tree(const char *path, uint64_t attrs)
{
	struct mount_attr attr = { .attr_set = attrs };
	int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (fd == -1 || mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE,
	    &attr, sizeof(attr)) == -1 || try_path(path, 0755) == -1 ||
	    move_mount(fd, "", AT_FDCWD, path + 1,
	    MOVE_MOUNT_F_EMPTY_PATH) == -1)
		child_die(STEP_MOUNT);
	close(fd);
}

/* Directories as read-only mounts, merged-/usr links as links. */
static void
add_system(void)
{
	static const char *const dirs[] = { "/usr", "/bin", "/sbin", "/lib",
	    "/lib32", "/lib64", "/libx32", "/etc" };
	char link[PATH_MAX];
	struct stat st;
	ssize_t n;
	size_t i;

	for (i = 0; i < NELEM(dirs); i++) {
		if (lstat(dirs[i], &st) == -1)
			continue;
		if (S_ISDIR(st.st_mode)) {
			bind_tree(dirs[i], MOUNT_ATTR_RDONLY |
			    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
			continue;
		}
		n = readlink(dirs[i], link, sizeof(link) - 1);
		if (n == -1)
			child_die(STEP_MOUNT);
		link[n] = '\0';
		if (symlink(link, dirs[i] + 1) == -1)
			child_die(STEP_MOUNT);
	}
}

static void
add_devices(void)
{
	static const char *const nodes[] = { "/dev/null", "/dev/zero",
	    "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty" };
	static const char *const links[][2] = {
	    { "/proc/self/fd", "dev/fd" }, { "/proc/self/fd/0", "dev/stdin" },
	    { "/proc/self/fd/1", "dev/stdout" },
	    { "/proc/self/fd/2", "dev/stderr" } };
	size_t i;

	make_dir("dev", 0755);
	make_dir("dev/shm", 01777);
	for (i = 0; i < NELEM(nodes); i++)
		if (mknod(nodes[i] + 1, S_IFREG | 0666, 0) == -1 ||
		    mount(nodes[i], nodes[i] + 1, NULL, MS_BIND, NULL) == -1)
			child_die(STEP_MOUNT);
	for (i = 0; i < NELEM(links); i++)
		if (symlink(links[i][0], links[i][1]) == -1)
			child_die(STEP_MOUNT);
}

static void
new_root(const struct run_spec *r)
{
	if (mount("none", ROOT, "tmpfs", MS_NOSUID | MS_NODEV,
	    ROOT_OPTIONS) == -1 || chdir(ROOT) == -1)
		child_die(STEP_MOUNT);
	add_system();
	add_devices();
	make_dir("tmp", 01777);
	make_dir("var", 0755);
	make_dir("var/tmp", 01777);
	make_dir("proc", 0555);
	mount_proc("proc");
	if (r->bundle)
		bind_tree(settings.state_dir, 0);
	if (r->control)
		bind_tree(settings.run_dir, 0);
	/* some users' homes lie below what is read-only here */
	if (r->home[0] == '/' && r->home[1] != '\0')
		(void)try_path(r->home, 0700);
	/* the old root comes to lie over the new one, and goes */
	if (syscall(SYS_pivot_root, ".", ".") == -1 ||
	    umount2(".", MNT_DETACH) == -1 || chdir("/") == -1)
		child_die(STEP_PIVOT);
}

void
mounts_session(const struct run_spec *r)
{
	bool masked;

	umask(0);
	mounts_private();
	if (r->sandbox == SANDBOX_TMPFS) {
		new_root(r);
		return;
	}
	mount_proc("/proc");
	freeze_cgroups();
	/* a bundle's tmpfs lies over the state directory already */
	masked = !r->bundle && mounts_mask(settings.state_dir);
	if (r->control)
		return;
	/* the same emptiness twice: a second one is dear to make */
	if (!masked || mount(settings.state_dir, settings.run_dir, NULL,
	    MS_BIND, NULL) == -1)
		(void)mounts_mask(settings.run_dir);
}
