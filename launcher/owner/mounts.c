/* SPDX-License-Identifier: ISC */
/* The mounts of sessions: two kinds of root, masks, /proc. */
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "image.h"
#include "mounts.h"
#include "steps.h"
#include "user_limits.h"
#include "wire/role.h"

#define QUIET	(MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define NELEM(a)	(sizeof(a) / sizeof((a)[0]))
/* MAX_NR_CONSOLES of the kernel, and the one that is on the screen */
#define CONSOLES_MAX	64
/* "tty0 ttyS0" */
#define CONSOLES	"/sys/class/tty/console/active"
/* The kernel keeps those below for itself; the usual pid_max. */
#define PID_LEAST 300
#define PID_USUAL 32768

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

/* Bind-mounts the tree at path on at, with these attributes added. */
static void
place(const char *path, uint64_t attrs, const char *at)
{
	struct mount_attr attr = { .attr_set = attrs };
	int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (fd == -1 || mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE,
	    &attr, sizeof(attr)) == -1 ||
	    move_mount(fd, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH) == -1)
		child_die(STEP_MOUNT);
	close(fd);
}

/*
 * --user of root: files and the kernel's switches know its sessions by their
 * uid alone, and let them do what root may, without a capability.
 */
static bool
is_hosts_root(void)
{
	return role_mode == MODE_USER && settings.daemon_uid == 0;
}

/* All but the processes' own directories, which debuggers write to. */
static void
freeze_proc(const char *path)
{
	char name[PATH_MAX];
	struct dirent *e;
	DIR *dir = opendir(path);

	if (dir == NULL)
		child_die(STEP_PROC);
	while ((e = readdir(dir)) != NULL) {
		if (e->d_type == DT_LNK || e->d_name[0] == '.' ||
		    strspn(e->d_name, "0123456789") > 0)
			continue;
		(void)snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		place(name, MOUNT_ATTR_RDONLY, name);
	}
	closedir(dir);
}

/*
 * Programs name files in /tmp by their process ids, and sessions that share
 * /tmp would all have 2: each goes on from another number.  Kernels without
 * CONFIG_CHECKPOINT_RESTORE have no such file.
 */
static void
scatter_pids(const char *proc)
{
	char path[64], text[16];
	struct timespec now;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/sys/kernel/ns_last_pid", proc);
	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) == -1)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)snprintf(text, sizeof(text), "%ld",
	    PID_LEAST + now.tv_nsec / 1000 % (PID_USUAL - PID_LEAST));
	(void)!write(fd, text, strlen(text));
	close(fd);
}

static void
mount_proc(const char *path)
{
	if (mount("proc", path, "proc", QUIET, NULL) == -1)
		child_die(STEP_PROC);
	user_limits_divide(path);
	scatter_pids(path);
	if (is_hosts_root())
		freeze_proc(path);
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
	if (try_path(path, 0755) == -1)
		child_die(STEP_MOUNT);
	place(path, attrs, path + 1);
}

/* Directories and files as read-only mounts, links as links. */
static void
add_host(const char *path)
{
	const uint64_t attrs = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
	    MOUNT_ATTR_NODEV;
	char link[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) == -1)
		return;
	if (S_ISDIR(st.st_mode)) {
		bind_tree(path, attrs);
		return;
	}
	if (S_ISREG(st.st_mode)) {
		if (mknod(path + 1, S_IFREG | 0444, 0) == -1)
			child_die(STEP_MOUNT);
		place(path, attrs, path + 1);
		return;
	}
	n = readlink(path, link, sizeof(link) - 1);
	if (n == -1)
		child_die(STEP_MOUNT);
	link[n] = '\0';
	if (symlink(link, path + 1) == -1)
		child_die(STEP_MOUNT);
}

/* Root's sessions get the files of /etc that programs read, and no secrets. */
static void
add_system(void)
{
	static const char *const dirs[] = { "/usr", "/bin", "/sbin", "/lib",
	    "/lib32", "/lib64", "/libx32" };
	static const char *const known[] = { "/etc/alternatives",
	    "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/debian_version",
	    "/etc/fonts", "/etc/gai.conf", "/etc/group", "/etc/host.conf",
	    "/etc/hostname", "/etc/hosts", "/etc/inputrc",
	    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	    "/etc/locale.alias", "/etc/localtime", "/etc/mime.types",
	    "/etc/networks", "/etc/nsswitch.conf", "/etc/os-release",
	    "/etc/passwd", "/etc/profile", "/etc/protocols",
	    "/etc/resolv.conf", "/etc/services", "/etc/shells",
	    "/etc/ssl/certs", "/etc/terminfo", "/etc/timezone" };
	size_t i;

	for (i = 0; i < NELEM(dirs); i++)
		add_host(dirs[i]);
	if (!is_hosts_root()) {
		add_host("/etc");
		return;
	}
	make_dir("etc", 0755);
	for (i = 0; i < NELEM(known); i++)
		add_host(known[i]);
}

/*
 * Terminals of the session's own: those of other sessions and of the host have
 * no name inside.  The kernel takes them from the sum of the host, so one
 * session gets a part only.  The host's /dev/ptmx leads here too: it looks for
 * what is mounted beside it.
 */
static void
mount_terminals(const struct run_spec *r, const char *path)
{
	char options[64];

	(void)snprintf(options, sizeof(options),
	    "ptmxmode=0666,mode=0600,max=%u", user_limits_terminals(r->tty));
	if (mount("devpts", path, "devpts", MS_NOSUID | MS_NOEXEC,
	    options) == 0)
		return;
	/* a host without terminals has none that could be seen */
	if (r->tty || errno != ENOENT)
		child_die(STEP_TTY);
}

/* False when there is no such file. */
static bool
hide_console(const char *path)
{
	if (access(path, R_OK) == -1)
		return errno != ENOENT;
	if (mount("/dev/null", path, NULL, MS_BIND, NULL) == -1)
		child_die(STEP_MOUNT);
	return true;
}

/* Serial lines and lines to the hypervisor that the kernel writes its log to. */
static void
hide_kernel_consoles(void)
{
	char path[5 + NAME_MAX + 1], names[512], *name, *rest = names;
	int fd = open(CONSOLES, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	/* without sysfs the kernel tells no name */
	if (fd == -1)
		return;
	n = read_again(fd, names, sizeof(names) - 1);
	close(fd);
	if (n == -1)
		child_die(STEP_MOUNT);
	names[n] = '\0';
	while ((name = strsep(&rest, " \n")) != NULL) {
		if (name[0] == '\0')
			continue;
		(void)snprintf(path, sizeof(path), "/dev/%.*s", NAME_MAX, name);
		(void)hide_console(path);
	}
}

/*
 * The consoles that the owner can read have what the owner types there, after a
 * login or in a container with a terminal.  The numbers have no gap.
 */
static void
hide_consoles(void)
{
	char name[16];
	int i;

	(void)hide_console("/dev/console");
	for (i = 0; i < CONSOLES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "/dev/tty%d", i);
		if (!hide_console(name))
			break;
	}
	hide_kernel_consoles();
}

static void
add_devices(const struct run_spec *r)
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
	make_dir("dev/pts", 0755);
	mount_terminals(r, "dev/pts");
	if (symlink("pts/ptmx", "dev/ptmx") == -1)
		child_die(STEP_MOUNT);
}

static void
new_root(const struct run_spec *r)
{
	if (mount("none", ROOT, "tmpfs", MS_NOSUID | MS_NODEV,
	    ROOT_OPTIONS) == -1 || chdir(ROOT) == -1)
		child_die(STEP_MOUNT);
	add_system();
	add_devices(r);
	make_dir("tmp", 01777);
	make_dir("var", 0755);
	make_dir("var/tmp", 01777);
	make_dir("proc", 0555);
	mount_proc("proc");
	if (r->bundle)
		bind_tree(settings.state_dir, 0);
	else if (r->file)
		(void)try_path(settings.state_dir, 0755);
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
		(void)image_file(r);
		return;
	}
	mount_proc("/proc");
	freeze_cgroups();
	mount_terminals(r, "/dev/pts");
	hide_consoles();
	/* a bundle's tmpfs lies over the state directory already */
	masked = !r->bundle && !image_file(r) &&
	    mounts_mask(settings.state_dir);
	if (r->control)
		return;
	/* the same emptiness twice: a second one is dear to make */
	if (!masked || mount(settings.state_dir, settings.run_dir, NULL,
	    MS_BIND, NULL) == -1)
		(void)mounts_mask(settings.run_dir);
}
