/* SPDX-License-Identifier: ISC */
/* Directories, and the cgroup tree that sessions are put into. */
#include <sys/stat.h>
#include <sys/xattr.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgfile.h"
#include "setup.h"

#define ANOTHER		"or name another with state-dir or run-dir"
#define TREES_MOST	1000

/* In user mode a directory of another user's would be a trap. */
static void
make_dir(const char *path, mode_t mode, struct identity who)
{
	struct stat st;
	int fd;

	if (mkdir(path, mode) == -1 && errno != EEXIST)
		fatal("cannot make the directory %s (" ANOTHER ")", path);
	/* by fd: a rename cannot change what was checked */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 && (errno == ENOTDIR || errno == ELOOP))
		fatalx("%s is not a directory; remove it or name another "
		    "one", path);
	if (fd == -1 || fstat(fd, &st) == -1)
		fatal("cannot open the directory %s (" ANOTHER ")", path);
	if (st.st_uid != geteuid() && st.st_uid != who.uid)
		fatalx("%s belongs to uid %u; remove it or name another "
		    "directory", path, st.st_uid);
	if (d.mode == MODE_SYSTEM && fchown(fd, who.uid, who.gid) == -1)
		fatal("cannot give away %s (" NEEDS_ROOT ")", path);
	if (fchmod(fd, mode) == -1)
		fatal("cannot set the mode of %s (" ANOTHER ")", path);
	close(fd);
}

static void
make_below(const char *dir, const char *name, mode_t mode,
    struct identity who)
{
	char path[PATH_LEN * 2];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	make_dir(path, mode, who);
}

static bool
is_nothing(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcmp(name, "lost+found") == 0;
}

/* Would it have another owner or mode than it has? */
static bool
would_change(const char *path, mode_t mode, struct identity who)
{
	struct stat st;

	return stat(path, &st) == -1 || (st.st_mode & 07777) != mode ||
	    (d.mode == MODE_SYSTEM &&
	    (st.st_uid != who.uid || st.st_gid != who.gid));
}

/* Holds anything but mark, which is what daemons make first in theirs? */
static bool
is_others(const char *path, const char *mark)
{
	DIR *dir = opendir(path);
	bool ours = false, any = false;
	struct dirent *e;

	/* what there is to say then is said by who makes it */
	if (dir == NULL)
		return false;
	while ((e = readdir(dir)) != NULL) {
		ours |= strcmp(e->d_name, mark) == 0;
		any |= !is_nothing(e->d_name);
	}
	closedir(dir);
	return any && !ours;
}

static void
refuse(const char *path, const char *key)
{
	fatalx("%s holds what is not the daemon's, and would get another "
	    "owner or mode; name a directory of its own with %s, such as "
	    "%s/debuglantern", path, key, strcmp(path, "/") == 0 ? "" : path);
}

/*
 * A user who names /run or /var means a directory in it: /run would be given
 * another owner, and /var/tmp would be made a place for unlinked files.
 */
static void
refuse_others(mode_t mode, struct identity root, mode_t tmp_mode,
    struct identity tmp_owner)
{
	char tmp[PATH_LEN * 2];

	if (is_others(d.run_dir, "empty") && would_change(d.run_dir, mode,
	    d.self))
		refuse(d.run_dir, "run-dir");
	(void)snprintf(tmp, sizeof(tmp), "%s/tmp", d.state_dir);
	if (is_others(d.state_dir, "tls") && (would_change(d.state_dir, mode,
	    root) || (access(tmp, F_OK) == 0 && would_change(tmp, tmp_mode,
	    tmp_owner))))
		refuse(d.state_dir, "state-dir");
}

/* mkdir -p of what leads to path, with the modes that such places have. */
static void
make_leading(const char *path)
{
	char part[PATH_LEN];
	char *p;

	(void)snprintf(part, sizeof(part), "%s", path);
	for (p = strchr(part + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(part, d.mode == MODE_SYSTEM ? 0755 : 0700) == -1 &&
		    errno != EEXIST && errno != EROFS && errno != EACCES)
			fatal("cannot make the directory %s (" ANOTHER ")", part);
		*p = '/';
	}
}

/* A directory from the config, an environment variable, or below home. */
static void
choose(char *out, const char *configured, const char *var, const char *suffix)
{
	const char *base = getenv(var), *home = getenv("HOME");
	int n;

	if (configured[0] != '\0')
		n = snprintf(out, PATH_LEN, "%s", configured);
	else if (base != NULL && base[0] == '/')
		n = snprintf(out, PATH_LEN, "%s/debuglantern", base);
	else if (suffix[0] == '\0')
		n = snprintf(out, PATH_LEN, "/tmp/debuglantern-%u", getuid());
	else if (home != NULL && home[0] == '/')
		n = snprintf(out, PATH_LEN, "%s/%s", home, suffix);
	else
		fatalx("HOME is not set; name a --state-dir");
	if (n >= PATH_LEN - 64)
		fatalx("%s is too long for a directory's name", out);
}

static int
write_at(const char *dir, const char *name, const char *text)
{
	char path[PATH_LEN * 2];
	int fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == -1 ? -1 : 0;
}

static void
give_away(const char *dir, const char *name)
{
	struct identity who = d.role_id[ROLE_LAUNCHER];
	char path[PATH_LEN * 2];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (d.mode == MODE_SYSTEM && chown(path, who.uid, who.gid) == -1)
		log_warn("cannot give away %s", path);
}

/* A controller that the host keeps elsewhere is no error: DEPS tells. */
static void
enable_controllers(const char *dir)
{
	static const char *const wanted[] = { "+pids", "+memory", "+cpu" };
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		(void)write_at(dir, "cgroup.subtree_control", wanted[i]);
}

/* Controllers that sessions' cgroups can have: those enabled in dir. */
static uint64_t
controllers_of(const char *dir)
{
	char path[PATH_LEN * 2];

	(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	return cgfile_controllers(fopen(path, "re"));
}

/* Removes the cgroups in name, levels deep; none has a process any more. */
static void
sweep_below(int at_fd, const char *name, int levels)
{
	int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if (levels > 1)
			sweep_below(fd, e->d_name, levels - 1);
		(void)unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
	if (dir != NULL)
		closedir(dir);
	else if (fd != -1)
		close(fd);
}

/* A daemon that was killed could not take its tree away; it is empty now. */
static void
sweep_trees(const char *base)
{
	static const char *const parts[] = { "/sessions", "" };
	char path[PATH_LEN * 4];
	struct dirent *e;
	DIR *dir = opendir(base);
	size_t i;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		/* our own number was somebody's before, as in a container */
		if (pid <= 0 || (pid != getpid() &&
		    (kill(pid, 0) == 0 || errno != ESRCH)))
			continue;
		/* one of another pid namespace is not seen, but is in there */
		(void)snprintf(path, sizeof(path), "%.220s/%.30s/daemon", base,
		    e->d_name);
		if (rmdir(path) == -1 && errno != ENOENT)
			continue;
		(void)snprintf(path, sizeof(path), "%.220s/%.30s/sessions", base,
		    e->d_name);
		/* users', and in each the user's sessions' */
		sweep_below(AT_FDCWD, path, 2);
		for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			(void)snprintf(path, sizeof(path), "%.220s/%.30s%s", base,
			    e->d_name, parts[i]);
			(void)rmdir(path);
		}
	}
	if (dir != NULL)
		closedir(dir);
}

/* A daemon of another pid namespace may have the same number and be alive. */
static int
make_tree(const char *base)
{
	int i, n = snprintf(d.tree, sizeof(d.tree), "%.220s/%d", base, getpid());

	for (i = 2; i < TREES_MOST; i++) {
		if (mkdir(d.tree, 0755) == 0) {
			d.own_tree = true;
			return 0;
		}
		if (errno != EEXIST)
			return -1;
		(void)snprintf(d.tree + n, sizeof(d.tree) - (size_t)n, "-%d", i);
	}
	return -1;
}

/*
 * Under systemd the tree is the delegated cgroup of the service.  Elsewhere
 * root makes one of its own, below a directory that _dlparent may empty.
 */
static int
choose_tree(void)
{
	char mnt[PATH_LEN], own[PATH_LEN], path[PATH_LEN * 3], yes[2];

	if (cgfile_mount(fopen("/proc/self/mountinfo", "re"), mnt,
	    sizeof(mnt)) == -1 ||
	    cgfile_own(fopen("/proc/self/cgroup", "re"), own,
	    sizeof(own)) == -1)
		return -1;
	(void)snprintf(path, sizeof(path), "%s%s", mnt, own);
	if (strcmp(own, "/") != 0 && access(path, W_OK) == 0 &&
	    (getxattr(path, "user.delegate", yes, sizeof(yes)) > 0 ||
	    getxattr(path, "trusted.delegate", yes, sizeof(yes)) > 0)) {
		(void)snprintf(d.tree, sizeof(d.tree), "%.255s", path);
		return 0;
	}
	if (d.mode != MODE_SYSTEM)
		return -1;
	(void)snprintf(path, sizeof(path), "%s%s/cgroup.procs", mnt, own);
	/* to go back at the end, so that the tree can be removed */
	give(GIVEN_HOME_PROCS, open(path, O_WRONLY | O_CLOEXEC));
	(void)snprintf(path, sizeof(path), "%.200s/debuglantern", mnt);
	if (mkdir(path, 0755) == -1 && errno != EEXIST)
		return -1;
	if (chown(path, d.self.uid, d.self.gid) == -1)
		return -1;
	sweep_trees(path);
	enable_controllers(mnt);
	enable_controllers(path);
	return make_tree(path);
}

/*
 * In system mode the cgroup of a socket is what tells a session from a user
 * (idproc): going without is a choice that has a name.
 */
static void
without_cgroups(const char *why)
{
	d.tree[0] = '\0';
	if (d.mode == MODE_SYSTEM && !d.conf->control)
		fatal("cannot %s for sessions; mount cgroup v2 where root may "
		    "write, or set control yes, which lets sessions be clients "
		    "of the daemon", why);
	log_warn("cannot %s for sessions; they have none", why);
}

static void
make_cgroups(void)
{
	char dir[PATH_LEN + 16];

	errno = ENOENT;
	if (choose_tree() == -1) {
		if (d.mode == MODE_SYSTEM)
			without_cgroups("make a cgroup tree");
		d.tree[0] = '\0';
		return;
	}
	(void)snprintf(dir, sizeof(dir), "%s/daemon", d.tree);
	if ((mkdir(dir, 0755) == -1 && errno != EEXIST) ||
	    write_at(dir, "cgroup.procs", "0") == -1) {
		without_cgroups("enter a cgroup made");
		return;
	}
	(void)snprintf(dir, sizeof(dir), "%s/sessions", d.tree);
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		fatal("cannot make the cgroup %s (let cgroup v2 be writable "
		    "for who starts the daemon)", dir);
	enable_controllers(d.tree);
	enable_controllers(dir);
	give_away(d.tree, "cgroup.procs");
	give_away(d.tree, "sessions");
	give_away(d.tree, "sessions/cgroup.procs");
	give_away(d.tree, "sessions/cgroup.subtree_control");
	give_away(d.tree, "daemon/cgroup.procs");
	if (d.own_tree && chown(d.tree, d.self.uid, d.self.gid) == -1)
		log_warn("cannot give away %s", d.tree);
	d.settings.controllers = controllers_of(dir);
	if (snprintf(d.settings.cgroup, sizeof(d.settings.cgroup), "%s",
	    dir) >= (int)sizeof(d.settings.cgroup))
		fatalx("the cgroup's name %s is too long", dir);
}

void
places_make(void)
{
	struct identity root = { geteuid(), getegid() }, tmp_owner = root;
	bool system = d.mode == MODE_SYSTEM;
	mode_t mode = system ? 0755 : 0700, tmp_mode = system ? 01733 : 0700;

	if (system)
		tmp_owner.gid = d.role_id[ROLE_LAUNCHER].gid;
	umask(022);
	choose(d.run_dir, d.conf->run_dir, "XDG_RUNTIME_DIR", "");
	choose(d.state_dir, d.conf->state_dir, "XDG_STATE_HOME",
	    ".local/state/debuglantern");
	make_leading(d.run_dir);
	make_leading(d.state_dir);
	refuse_others(mode, root, tmp_mode, tmp_owner);
	/* the parent's, so that it can take its socket away */
	make_dir(d.run_dir, mode, d.self);
	make_below(d.run_dir, "empty", 0555, root);
	make_dir(d.state_dir, mode, root);
	/* also while nobody needs a key: later there is no right to make it */
	make_below(d.state_dir, "tls", 0700, d.role_id[ROLE_TLSPROC]);
	/* owners make their unlinked files here and cannot list others' */
	make_below(d.state_dir, "tmp", tmp_mode, tmp_owner);
	make_cgroups();
}
