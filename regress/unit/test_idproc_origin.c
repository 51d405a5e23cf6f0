/* SPDX-License-Identifier: ISC */
/* links: idproc/cgroups.c idproc/holders.c idproc/origin.c */
/* idproc: telling sessions from users, by control group and by process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "idproc/cgroups.h"
#include "idproc/holders.h"
#include "idproc/origin.h"
#include "wire/msg.h"
#include "wire/role.h"

/* nothing comes over a channel here */
const msg_handler	msg_handlers[MSG_COUNT];

static char	tree[256];

/* Where cgroup v2 is mounted, with room for more. */
static int
find_mount(char *buf, size_t size)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char line[1024], dir[200], type[32];
	int found = -1;

	while (f != NULL && found == -1 && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%*s %199s %31s", dir, type) == 2 &&
		    strcmp(type, "cgroup2") == 0) {
			(void)snprintf(buf, size, "%s", dir);
			found = 0;
		}
	if (f != NULL)
		fclose(f);
	return found;
}

static uint64_t
make(const char *name)
{
	char path[512];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s%s", tree, name);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void
drop(const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s%s", tree, name);
	assert_int_equal(rmdir(path), 0);
}

static void
no_cgroup(void **state)
{
	(void)state;
	assert_int_equal(cgroups_init("/proc"), -1);
	assert_int_equal(errno, ENOTSUP);
	assert_int_equal(cgroups_init("/nonexistent"), -1);
	assert_int_equal(errno, ENOENT);
}

static void
groups(void **state)
{
	static char sessions[300];
	char mnt[200];
	uint64_t top, all, one, inner, deep, user, late;
	struct stat st;

	(void)state;
	/* only root may change control groups */
	if (geteuid() != 0)
		skip();
	assert_int_equal(find_mount(mnt, sizeof(mnt)), 0);
	(void)snprintf(tree, sizeof(tree), "%s/dl-test-%d", mnt, getpid());
	top = make("");
	all = make("/sessions");
	one = make("/sessions/one");
	inner = make("/sessions/one/inner");
	user = make("/user");
	(void)snprintf(sessions, sizeof(sessions), "%s/sessions", tree);
	assert_int_equal(cgroups_init(sessions), 0);
	assert_int_equal(stat(mnt, &st), 0);

	assert_int_equal(cgroups_place(st.st_ino), CGROUP_OUTSIDE);
	assert_int_equal(cgroups_place(top), CGROUP_OUTSIDE);
	assert_int_equal(cgroups_place(user), CGROUP_OUTSIDE);
	assert_int_equal(cgroups_place(all), CGROUP_SESSION);
	assert_int_equal(cgroups_place(one), CGROUP_SESSION);
	assert_int_equal(cgroups_place(inner), CGROUP_SESSION);
	deep = make("/sessions/one/inner/deep");
	assert_int_not_equal(cgroups_place(deep), CGROUP_OUTSIDE);
	assert_int_equal(cgroups_place(0), CGROUP_UNKNOWN);
	assert_int_equal(cgroups_place(UINT64_MAX), CGROUP_UNKNOWN);
	late = make("/sessions/one/late");
	assert_int_equal(cgroups_place(late), CGROUP_SESSION);

	/* a session that ended may have left its socket to somebody */
	drop("/sessions/one/late");
	assert_int_equal(cgroups_place(late), CGROUP_UNKNOWN);
	drop("/sessions/one/inner/deep");
	drop("/sessions/one/inner");
	drop("/sessions/one");
	drop("/sessions");
	drop("/user");
	drop("");
	assert_int_equal(cgroups_place(one), CGROUP_UNKNOWN);
}

/* The daemon's check of the cgroup of a client's socket. */
static void
clients(void **state)
{
	char mnt[200], why[256] = "";
	struct diag_socket s = { .uid = geteuid() };
	uint64_t user, one;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(find_mount(mnt, sizeof(mnt)), 0);
	(void)snprintf(tree, sizeof(tree), "%s/dl-test-%d", mnt, getpid());
	(void)make("");
	(void)make("/sessions");
	one = make("/sessions/one");
	user = make("/user");
	assert_in_range(snprintf(settings.cgroup, sizeof(settings.cgroup),
	    "%s/sessions", tree), 1, sizeof(settings.cgroup) - 1);
	role_mode = MODE_SYSTEM;
	origin_init();
	s.cgroup = user;
	assert_int_equal(origin_check(&s, why, sizeof(why)), 0);
	s.cgroup = one;
	assert_int_equal(origin_check(&s, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "it comes from a session"));
	drop("/sessions/one");
	/* a session's socket outlives its group where somebody else has it */
	assert_int_equal(origin_check(&s, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "may have been a session's"));
	s.cgroup = 0;
	assert_int_equal(origin_check(&s, why, sizeof(why)), -1);
	settings.control = 1;
	assert_int_equal(origin_check(&s, why, sizeof(why)), 0);
	settings.control = 0;
	drop("/user");
	drop("/sessions");
	drop("");
}

/* Makes or removes n groups below name. */
static void
fill(const char *name, unsigned int n, bool full)
{
	char path[512];
	unsigned int i;

	for (i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s%s/%u", tree, name, i);
		assert_int_equal(full ? mkdir(path, 0755) : rmdir(path), 0);
	}
}

/* Many groups in one user's part of the tree do not hide another user's. */
static void
many_groups(void **state)
{
	static char sessions[300];
	char mnt[200], path[512], name[8];
	unsigned int i;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(find_mount(mnt, sizeof(mnt)), 0);
	(void)snprintf(tree, sizeof(tree), "%s/dl-test-%d", mnt, getpid());
	(void)make("");
	(void)make("/sessions");
	(void)snprintf(sessions, sizeof(sessions), "%s/sessions", tree);
	assert_int_equal(cgroups_init(sessions), 0);
	(void)make("/alice");
	(void)snprintf(path, sizeof(path), "%s/alice", tree);
	assert_int_equal(chown(path, 1001, 1001), 0);
	fill("/alice", 20100, true);
	/* the order of the walk is by hashes of names: before it and after */
	for (i = 0; i < 8; i++) {
		(void)snprintf(name, sizeof(name), "/bob%u", i);
		assert_int_equal(cgroups_place(make(name)), CGROUP_OUTSIDE);
		drop(name);
	}
	fill("/alice", 20100, false);
	drop("/alice");
	drop("/sessions");
	drop("");
}

static uint32_t
inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint32_t)st.st_ino;
}

/* A byte to ready_fd (-1 = none) says that it does not outlive its parent. */
static void
hold(int ready_fd)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ready_fd != -1 && write(ready_fd, "", 1) != 1)
		_exit(77);
	for (;;)
		pause();
}

/* A process that has all our sockets but one, and nothing to do. */
static pid_t
holder(int other_fd)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	close(other_fd);
	hold(-1);
	return -1;
}

/* The same in new namespaces; returns when nobody else has the socket. */
static pid_t
holder_in(int flags, int fd)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		close(ready[0]);
		/* a pid namespace is for the children */
		if (unshare(flags) == -1)
			_exit(77);
		if (fork() == 0)
			hold(ready[1]);
		close(fd);
		hold(ready[1]);
	}
	close(ready[1]);
	close(fd);
	/* of both */
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void
end_process(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/*
 * Runs as idproc does: a child of the daemon.  outside_fd is held by the
 * test itself, session_fd by a child of the daemon.  Returns 0, or the line
 * at which something was not as it should be.
 */
static int
look(uint32_t outside, uint32_t session, pid_t test_pid, pid_t session_pid)
{
	enum holder h = HOLDER_NONE;
	int i;

	if (holders_init() == -1)
		return __LINE__;
	/* processes of the session's may have to close, or open, theirs */
	for (i = 0; i < 200 && h != HOLDER_OUTSIDE; i++) {
		h = holders_find(geteuid(), outside);
		usleep(10000);
	}
	if (h != HOLDER_OUTSIDE)
		return __LINE__;
	h = HOLDER_NONE;
	for (i = 0; i < 200 && h == HOLDER_NONE; i++) {
		h = holders_find(geteuid(), session);
		usleep(10000);
	}
	if (h != HOLDER_SESSION)
		return __LINE__;
	if (holders_find(geteuid(), 1) != HOLDER_NONE)
		return __LINE__;
	if (holders_find(geteuid() + 1, outside) != HOLDER_NONE)
		return __LINE__;
	if (holders_is_session(test_pid) || !holders_is_session(session_pid) ||
	    !holders_is_session(getpid()) || holders_is_session(1))
		return __LINE__;
	/* one that is gone cannot be followed */
	return holders_is_session(INT32_MAX) ? 0 : __LINE__;
}

static int
as_daemon(int outside_fd, int session_fd, pid_t test_pid)
{
	uint32_t outside = inode_of(outside_fd);
	uint32_t session = inode_of(session_fd);
	pid_t session_pid, idproc;
	int status;

	session_pid = holder(outside_fd);
	idproc = fork();
	if (idproc == 0) {
		close(outside_fd);
		close(session_fd);
		status = look(outside, session, test_pid, session_pid);
		if (status != 0)
			fprintf(stderr, "line %d\n", status);
		_exit(status != 0);
	}
	close(outside_fd);
	close(session_fd);
	(void)waitpid(idproc, &status, 0);
	end_process(session_pid);
	return status;
}

static void
processes(void **state)
{
	int outside_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int session_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t self = getpid(), pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(as_daemon(outside_fd, session_fd, self) != 0);
	close(session_fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(outside_fd);
	assert_int_equal(status, 0);
}

/* Looks from beside the holder, so that only its namespaces tell. */
static enum holder
found_in(int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint32_t inode = inode_of(fd);
	pid_t idproc, pid = holder_in(flags, fd), d;
	int status;

	/* the daemon, whose child looks */
	d = fork();
	if (d == 0) {
		idproc = fork();
		if (idproc == 0)
			_exit(holders_init() == -1 ? 77 :
			    (int)holders_find(geteuid(), inode));
		(void)waitpid(idproc, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	(void)waitpid(d, &status, 0);
	end_process(pid);
	assert_true(WIFEXITED(status));
	return (enum holder)WEXITSTATUS(status);
}

static void
namespaces(void **state)
{
	(void)state;
	assert_int_equal(found_in(0), HOLDER_OUTSIDE);
	assert_int_equal(found_in(CLONE_NEWUSER), HOLDER_OUTSIDE);
	assert_int_equal(found_in(CLONE_NEWUSER | CLONE_NEWPID),
	    HOLDER_SESSION);
}

/* A process that is no session's and lives, but is not who connected. */
static void
another_with_its_number(void **state)
{
	char why[256] = "";
	pid_t pid = fork();
	int status, alive_fd, dead_fd;

	(void)state;
	if (pid == 0)
		_exit(0);
	dead_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	alive_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	assert_true(dead_fd != -1 && alive_fd != -1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	pid = fork();
	if (pid == 0) {
		/* as a child of the daemon, like idproc */
		if (holders_init() == -1)
			_exit(77);
		_exit((origin_check_pid(1, alive_fd, why, sizeof(why)) == 0) |
		    (origin_check_pid(1, dead_fd, why, sizeof(why)) == 0) << 1 |
		    (strstr(why, "or gone") != NULL) << 2 |
		    (origin_check_pid(1, -1, why, sizeof(why)) == 0) << 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1 | 4 | 8);
	close(dead_fd);
	close(alive_fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cgroup),
		cmocka_unit_test(groups),
		cmocka_unit_test(clients),
		cmocka_unit_test(many_groups),
		cmocka_unit_test(processes),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(another_with_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
