/* SPDX-License-Identifier: ISC */
/*
 * Service users, and the way from root to none.  In system mode the parent
 * ends as _dlparent with four capabilities; uid 0 is out of reach for it by
 * its filter and for launchers by the fence, a user namespace in which no
 * uid 0 exists.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "confine/caps.h"
#include "setup.h"

#define RUN_USER	"_dlrun"

/* answers of the first process of the fence */
#define RLIMITS_LIFTED	1
#define LIMITS_DIVIDED	2

static const char *const role_users[ROLE_COUNT] = {
	[ROLE_PARENT]	 = "_dlparent",
	[ROLE_LOGGER]	 = "_dllog",
	[ROLE_NETPROC]	 = "_dlnet",
	[ROLE_SPAWNER]	 = "_dlspawn",
	[ROLE_LAUNCHER]	 = "_dllaunch",
	[ROLE_ANNOUNCER] = "_dlmdns",
	[ROLE_IDPROC]	 = "_dlid",
	[ROLE_TLSPROC]	 = "_dltls",
	[ROLE_ACCTPROC]	 = "_dlacct",
};

/* The fence maps all ids of users: a launcher could take this one. */
static void
refuse_mapped(const char *name, const char *what, uint32_t id)
{
	if (id >= d.conf->min_uid && id <= LAST_UID)
		fatalx("the service user %s has %s %u, among those of users; "
		    "give it one below min-uid (%u), or set min-uid above it",
		    name, what, id, d.conf->min_uid);
}

static struct identity
find(const char *name)
{
	struct passwd *pw = getpwnam(name);

	if (pw == NULL)
		fatalx("the service user %s does not exist; "
		    "systemd-sysusers makes it from debuglantern's sysusers.d "
		    "file, or start with --user", name);
	if (pw->pw_uid == 0 || pw->pw_gid == 0)
		fatalx("the service user %s must not be root", name);
	refuse_mapped(name, "uid", pw->pw_uid);
	refuse_mapped(name, "group", pw->pw_gid);
	return (struct identity){ pw->pw_uid, pw->pw_gid };
}

/* An attacker who takes over one role gets all that others share with it. */
static void
refuse_shared(const char *name, struct identity one, const char *other,
    struct identity two)
{
	if (one.uid == two.uid)
		fatalx("the service users %s and %s have the same uid %u; "
		    "each needs one of its own", name, other, one.uid);
	if (one.gid == two.gid)
		fatalx("the service users %s and %s have the same group %u; "
		    "each needs one of its own", name, other, one.gid);
}

static void
find_all(void)
{
	size_t i, j;

	for (i = 0; i < ROLE_COUNT; i++) {
		d.role_id[i] = find(role_users[i]);
		for (j = 0; j < i; j++)
			refuse_shared(role_users[j], d.role_id[j],
			    role_users[i], d.role_id[i]);
	}
	d.run_id = find(RUN_USER);
	for (i = 0; i < ROLE_COUNT; i++)
		refuse_shared(role_users[i], d.role_id[i], RUN_USER,
		    d.run_id);
}

void
users_find(void)
{
	struct identity me = { geteuid(), getegid() };
	size_t i;

	if (d.mode == MODE_SYSTEM) {
		find_all();
	} else {
		for (i = 0; i < ROLE_COUNT; i++)
			d.role_id[i] = me;
		d.run_id = me;
	}
	d.self = d.role_id[ROLE_PARENT];
	acct_starter_find();
}

/* Adds an "inside outside count" line; ids are the same on both sides. */
static void
map_line(char *map, size_t size, uint32_t id, uint32_t count)
{
	size_t len = strlen(map);

	(void)snprintf(map + len, size - len, "%u %u %u\n", id, id, count);
}

static void
map_one(char *map, size_t size, uint32_t id)
{
	/* the range of users is one line; ids in it must not come twice */
	if (id < d.conf->min_uid || id > LAST_UID)
		map_line(map, size, id, 1);
}

/* Why sessions cannot have the group; NULL: its number. */
static const char *
group_fault(const char *name, gid_t *gid)
{
	const struct group *gr = getgrnam(name);

	if (gr == NULL)
		return "there is no such group";
	if (gr->gr_gid == 0)
		return "group 0 is never given to sessions";
	*gid = gr->gr_gid;
	return NULL;
}

int
users_check(const struct conf *c)
{
	const struct passwd *pw;
	const char *why;
	gid_t gid;
	size_t i;
	int r = 0;

	/* in user mode there is no fence, and no group in it */
	if (d.mode != MODE_SYSTEM)
		return 0;
	/* it may not have been made yet */
	if ((pw = getpwnam(RUN_USER)) != NULL)
		d.run_id.uid = pw->pw_uid;
	for (i = 0; i < c->allow_groups.n; i++)
		if ((why = group_fault(c->allow_groups.v[i], &gid)) != NULL) {
			log_error("allow-group %s: %s", c->allow_groups.v[i],
			    why);
			r = -1;
		}
	return r;
}

static void
map_groups(char *map, size_t size)
{
	const char *name, *why;
	size_t i, len = 0, max = sizeof(d.settings.allow_groups);
	gid_t gid;

	for (i = 0; i < d.conf->allow_groups.n; i++) {
		name = d.conf->allow_groups.v[i];
		if ((why = group_fault(name, &gid)) != NULL)
			fatalx("allow-group %s: %s", name, why);
		if (gid != d.role_id[ROLE_LAUNCHER].gid && gid != d.run_id.gid)
			map_one(map, size, gid);
		len += (size_t)snprintf(d.settings.allow_groups + len,
		    max - len, "%s%u", len > 0 ? "," : "", gid);
		if (len >= max)
			fatalx("too many allow-group");
	}
}

static void
write_map(pid_t pid, const char *which, const char *map)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, which);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd == -1 || write(fd, map, strlen(map)) != (ssize_t)strlen(map))
		fatal("cannot write the %s of the fence (" NEEDS_ROOT ")",
		    which);
	close(fd);
}

static void __attribute__((noreturn))
fence_child(int tell_fd, int wait_fd)
{
	char c = host_limits_prepare() ? RLIMITS_LIFTED : 0;

	/* its owner, _dlparent, has all capabilities towards it later */
	if (setgroups(0, NULL) == -1 ||
	    setresgid(d.self.gid, d.self.gid, d.self.gid) == -1 ||
	    setresuid(d.self.uid, d.self.uid, d.self.uid) == -1 ||
	    unshare(CLONE_NEWUSER) == -1 ||
	    /* or its maps would be root's to write, and nobody else's */
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == -1)
		_exit(errno);
	c |= host_limits_divide(d.sum_users) ? LIMITS_DIVIDED : 0;
	/* lives until its maps are written and it has been opened */
	if (write(tell_fd, &c, 1) != 1 || read_again(wait_fd, &c, 1) == -1)
		_exit(errno);
	_exit(0);
}

/*
 * The owner of the fence may write its maps, with the right to give ids away;
 * root could only with CAP_SYS_ADMIN and CAP_SYS_PTRACE over the host, which
 * the daemon can be started without.
 */
static void
act_as_owner(bool yes)
{
	if (seteuid(yes ? d.self.uid : 0) == -1 ||
	    (yes && caps_raise(CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID)) ==
	    -1))
		fatal("cannot act for the fence (" NEEDS_ROOT ")");
}

static void
fence_fill(pid_t pid)
{
	char map[8192] = "", path[64];

	map_one(map, sizeof(map), d.role_id[ROLE_LAUNCHER].uid);
	map_one(map, sizeof(map), d.run_id.uid);
	map_line(map, sizeof(map), d.conf->min_uid,
	    LAST_UID + 1 - d.conf->min_uid);
	write_map(pid, "uid_map", map);

	map[0] = '\0';
	map_one(map, sizeof(map), d.role_id[ROLE_LAUNCHER].gid);
	map_one(map, sizeof(map), d.run_id.gid);
	map_groups(map, sizeof(map));
	map_line(map, sizeof(map), d.conf->min_uid,
	    LAST_UID + 1 - d.conf->min_uid);
	write_map(pid, "gid_map", map);

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	give(GIVEN_FENCE, open(path, O_RDONLY | O_CLOEXEC));
	if (given(GIVEN_FENCE) == -1)
		fatal("cannot open the fence (mount /proc)");
}

void
fence_make(void)
{
	int up[2], down[2], status;
	pid_t pid;
	char c;

	d.sum_users = host_limits_users(d.conf->max_sessions,
	    d.conf->max_sessions_per_user);
	if (d.mode != MODE_SYSTEM)
		return;
	if (pipe2(up, O_CLOEXEC) == -1 || pipe2(down, O_CLOEXEC) == -1 ||
	    (pid = fork()) == -1)
		fatal("cannot make the fence (raise the limits of processes "
		    "and open files)");
	if (pid == 0) {
		close(down[1]);
		fence_child(up[1], down[0]);
	}
	close(up[1]);
	close(down[0]);
	if (read_again(up[0], &c, 1) != 1) {
		(void)waitpid(pid, &status, 0);
		errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
		fatal("cannot make a user namespace for launchers ("
		    NEEDS_ROOT "; raise user.max_user_namespaces)");
	}
	d.rlimits_lifted = (c & RLIMITS_LIFTED) != 0;
	if (!(c & LIMITS_DIVIDED))
		log_warnx("one user's sessions can use up what the host has of "
		    "inotify instances, namespaces and the like for all users: "
		    "/proc/sys must be writable when the daemon starts");
	act_as_owner(true);
	fence_fill(pid);
	act_as_owner(false);
	close(up[0]);
	close(down[1]);
	(void)waitpid(pid, &status, 0);
}

void
users_drop(void)
{
	if (d.mode != MODE_SYSTEM) {
		/* sessions of the same user may run without a sandbox */
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
		    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
			fatal("no_new_privs");
		return;
	}
	if (caps_bound(KEPT_CAPS) == -1 ||
	    prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == -1 ||
	    setgroups(0, NULL) == -1 ||
	    setresgid(d.self.gid, d.self.gid, d.self.gid) == -1 ||
	    setresuid(d.self.uid, d.self.uid, d.self.uid) == -1 ||
	    caps_set(KEPT_CAPS, KEPT_CAPS) == -1 ||
	    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		fatal("cannot become %s (" NEEDS_ROOT ")",
		    role_users[ROLE_PARENT]);
}

void
users_lend(void)
{
	if (d.mode == MODE_SYSTEM && caps_ambient(KEPT_CAPS) == -1)
		fatal("cannot hand capabilities on (" NEEDS_ROOT ")");
}
