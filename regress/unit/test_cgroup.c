/* SPDX-License-Identifier: ISC */
/* links: launcher/cgroup.c launcher/base/leaf.c launcher/observer/usage.c */
/*
 * launcher: cgroups of users and sessions, in a tree of files like the
 * kernel's, and in the kernel's own where that may be changed.
 */
#include "test_tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/loop.h"
#include "launcher/cgroup.h"
#include "launcher/observer/usage.h"
#include "wire/msg.h"
#include "wire/proto.h"
#include "wire/role.h"

/* nothing comes over a channel here */
const msg_handler	msg_handlers[MSG_COUNT];

#define ALICE	1001
#define BOB	1002
#define USER	"u1001"
#define LEAF	USER "/00010203-0405-0607-0809-0a0b0c0d0e0f"
#define LATER	USER "/10010203-0405-0607-0809-0a0b0c0d0e0f"
#define DEBUGGER USER "/dbg-00010203-0405-0607-0809-0a0b0c0d0e0f"
#define NONE	{ LIMIT_UNLIMITED, LIMIT_UNLIMITED }

#define SID(first)	{ { first, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, \
	14, 15 } }

static const struct cgroup_leaf session = { ALICE, SID(0), LEAF_SESSION };
static const struct cgroup_leaf later = { ALICE, SID(16), LEAF_SESSION };
static const struct cgroup_leaf debugger = { ALICE, SID(0), LEAF_DEBUGGER };
static const struct cgroup_leaf bobs = { BOB, SID(0), LEAF_SESSION };
static const struct cgroup_leaf bobs_later = { BOB, SID(16), LEAF_SESSION };
static const struct cgroup_limits none = NONE;

static int
set_up(void **state)
{
	if (tree_make(state) == -1)
		return -1;
	(void)strcpy(settings.cgroup, tree);
	return 0;
}

static void
make(const struct cgroup_leaf *s, const struct cgroup_limits *user,
    const struct cgroup_limits *own)
{
	int fd = -1;

	assert_int_equal(cgroup_make(s, user, own, &fd), 0);
	assert_int_not_equal(fd, -1);
	close(fd);
}

static void
limits_of_a_leaf(void **state)
{
	struct cgroup_limits own = { 1 << 20, 7 };

	(void)state;
	tree_put(LEAF "/memory.max", "");
	tree_put(LEAF "/pids.max", "");
	make(&session, &none, &own);
	tree_expect(LEAF "/memory.max", "1048576");
	tree_expect(LEAF "/pids.max", "7");
	tree_put(LEAF "/memory.max", "");
	own.memory = LIMIT_UNLIMITED;
	make(&session, &none, &own);
	tree_expect(LEAF "/memory.max", "max");
}

/* A user's limits change for all that the user runs, and for nobody else. */
static void
limits_of_a_user(void **state)
{
	const struct cgroup_limits l = { 64 << 20, 30 };

	(void)state;
	tree_put(USER "/memory.max", "");
	tree_put(USER "/memory.swap.max", "");
	tree_put(USER "/pids.max", "");
	tree_put("u1002/memory.max", "his own");
	assert_true(cgroup_limit_user(ALICE, &l));
	tree_expect(USER "/memory.max", "67108864");
	tree_expect(USER "/memory.swap.max", "0");
	tree_expect(USER "/pids.max", "30");
	tree_expect("u1002/memory.max", "his own");
	tree_put(USER "/memory.max", "");
	tree_put(USER "/memory.swap.max", "");
	tree_put(USER "/pids.max", "");
	assert_true(cgroup_limit_user(ALICE, &none));
	tree_expect(USER "/memory.max", "max");
	tree_expect(USER "/memory.swap.max", "max");
	tree_expect(USER "/pids.max", "max");
	/* a start makes one with limits, and leaves one alone that is there */
	make(&session, &l, &none);
	tree_expect(USER "/memory.max", "max");
	/* without sessions there is nothing to limit */
	assert_true(cgroup_limit_user(77, &l));
	assert_false(tree_has("u77"));
	/* no alarm of it is left */
	assert_int_equal(alarm(0), 0);
}

static void
what_users_use(void **state)
{
	struct user_use u[3];
	size_t i, alice;

	(void)state;
	tree_put("u1001/memory.current", "12345678901\n");
	tree_put("u1001/pids.current", "17\n");
	tree_put("u1002/memory.current", "");
	tree_put("u1x/memory.current", "1\n");
	tree_put("user/memory.current", "2\n");
	tree_put("u4294967295/memory.current", "3\n");
	tree_put("u3", "a file\n");
	assert_int_equal(usage_of_users(ALICE, u, 1), 1);
	assert_int_equal(u[0].uid, ALICE);
	assert_true(u[0].memory == 12345678901);
	assert_int_equal(u[0].pids, 17);
	assert_int_equal(usage_of_users(77, u, 1), 0);
	assert_int_equal(usage_of_users(USER_ALL, u, 3), 2);
	alice = u[0].uid == ALICE ? 0 : 1;
	assert_int_equal(u[alice].pids, 17);
	assert_int_equal(u[1 - alice].uid, BOB);
	assert_true(u[1 - alice].memory == USAGE_UNKNOWN);
	assert_true(u[1 - alice].pids == USAGE_UNKNOWN);
	/* no more than there is room for */
	for (i = 0; i < 2; i++)
		assert_int_equal(usage_of_users(USER_ALL, u, i), i);
}

/* Without the controllers there is nothing to write, and no error. */
static void
without_controllers(void **state)
{
	const struct cgroup_limits l = { 1 << 20, 7 };
	mode_t mask = umask(077);
	struct stat st;

	(void)state;
	make(&session, &l, &l);
	make(&later, &l, &l);
	(void)umask(mask);
	/* others look for sessions in it */
	assert_int_equal(fstatat(tree_fd, USER, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_true(tree_has(LEAF));
	assert_false(tree_has(LEAF "/memory.max"));
	assert_false(tree_has(USER "/memory.max"));
	/* the user's cgroup goes with the last session */
	cgroup_sweep(&session);
	assert_false(tree_has(LEAF));
	assert_true(tree_has(LATER));
	/* nobody else's, by the same session's number */
	cgroup_sweep(&bobs_later);
	assert_true(tree_has(LATER));
	cgroup_sweep(&later);
	assert_false(tree_has(USER));
}

/* A session's debugger is its owner's, and ends neither with it nor before. */
static void
of_debuggers(void **state)
{
	const struct cgroup_limits l = { 64 << 20, 30 };
	struct stat st;

	(void)state;
	make(&debugger, &l, &none);
	assert_true(tree_has(DEBUGGER));
	assert_false(tree_has(LEAF));
	make(&session, &none, &none);
	cgroup_kill(&session);
	assert_int_equal(fstatat(tree_fd, DEBUGGER, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	cgroup_sweep(&session);
	assert_true(tree_has(DEBUGGER));
	cgroup_sweep(&debugger);
	assert_false(tree_has(USER));
	make(&session, &none, &none);
	make(&debugger, &none, &none);
	cgroup_sweep(&debugger);
	assert_true(tree_has(LEAF));
	cgroup_sweep(&session);
	assert_false(tree_has(USER));
}

/* A cgroup that was killed cannot be used again, so a new one is made. */
static void
killed(void **state)
{
	struct stat st;

	(void)state;
	make(&session, &none, &none);
	cgroup_kill(&session);
	assert_int_equal(fstatat(tree_fd, LEAF, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0500);
	make(&session, &none, &none);
	assert_int_equal(fstatat(tree_fd, LEAF, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	cgroup_kill(&bobs);
	assert_int_equal(fstatat(tree_fd, LEAF, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
}

static void
all_at_once(void **state)
{
	(void)state;
	make(&session, &none, &none);
	make(&later, &none, &none);
	tree_put("u1003/cgroup.procs", "");
	assert_int_equal(unlinkat(tree_fd, "u1003/cgroup.procs", 0), 0);
	tree_put("cgroup.procs", "");
	cgroup_sweep_all();
	assert_false(tree_has(USER));
	assert_false(tree_has("u1003"));
	assert_true(tree_has("cgroup.procs"));
}

static struct loop_timer ends;
static const char *busy[2];	/* what nobody can remove by now */
static int ended;

/* In the place of libc's: the kernel's cgroups are busy, files are not. */
int
rmdir(const char *path)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (busy[i] != NULL && strstr(path, busy[i]) != NULL) {
			errno = EBUSY;
			return -1;
		}
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

/* A session more has ended, and something of it stays for now. */
static void
one_more_ends(void *arg)
{
	cgroup_sweep(&later);
	if (++ended < 60)
		loop_timer_set(&ends, 10, one_more_ends, arg);
	else
		loop_stop();
}

/* A cgroup that empties is removed even while sessions keep ending. */
static void
one_after_the_other(void **state)
{
	(void)state;
	assert_int_equal(loop_init(), 0);
	make(&session, &none, &none);
	make(&later, &none, &none);
	busy[0] = LEAF;
	busy[1] = LATER;
	cgroup_sweep(&session);
	assert_true(tree_has(LEAF));
	busy[0] = NULL;
	ended = 0;
	loop_timer_set(&ends, 10, one_more_ends, NULL);
	assert_int_equal(loop_run(), 0);
	busy[1] = NULL;
	assert_false(tree_has(LEAF));
	assert_true(tree_has(LATER));
	loop_end();
}

static void
none_delegated(void **state)
{
	struct user_use u;
	int fd = 99;

	(void)state;
	settings.cgroup[0] = '\0';
	assert_int_equal(cgroup_make(&session, &none, &none, &fd), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(leaf_open(&session), -1);
	assert_int_equal(usage_of_users(USER_ALL, &u, 1), 0);
	assert_true(cgroup_limit_user(ALICE, &none));
	cgroup_sweep(&session);
	cgroup_kill(&session);
}

/* -- the kernel's own ------------------------------------------------------ */

/* Where cgroup v2 is mounted with those controllers; false without. */
static bool
kernel_tree(void)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char line[1024], mnt[120], dir[120] = "", type[32], path[256];
	char text[512] = "";

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%*s %119s %31s", mnt, type) == 2 &&
		    strcmp(type, "cgroup2") == 0)
			(void)strcpy(dir, mnt);
	if (f != NULL)
		fclose(f);
	(void)snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
	f = fopen(path, "re");
	if (f != NULL) {
		if (fgets(text, sizeof(text), f) == NULL)
			text[0] = '\0';
		fclose(f);
	}
	if (geteuid() != 0 || strstr(text, "memory") == NULL ||
	    strstr(text, "pids") == NULL)
		return false;
	(void)snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs("+memory +pids", f) >= 0);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(settings.cgroup, sizeof(settings.cgroup),
	    "%s/dl-test-%d", dir, getpid());
	return true;
}

static void
write_in(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* A child in the session's cgroup that touches so much and ends with 0. */
static int
eater(size_t bytes)
{
	int fd = leaf_open(&session), status;
	char leaf[64], *p;
	pid_t pid;

	assert_int_not_equal(fd, -1);
	pid = fork();
	if (pid == 0) {
		(void)snprintf(leaf, sizeof(leaf), "/proc/self/fd/%d", fd);
		write_in(leaf, "cgroup.procs", "0");
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			memset(p, 1, bytes);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
	return status;
}

static void
kernels_own(void **state)
{
	const struct cgroup_limits most = { 32 << 20, 30 };
	const struct cgroup_limits less = { 8 << 20, 20 };
	struct user_use u;
	int fd, i, status;

	(void)state;
	assert_true(kernel_tree());
	assert_int_equal(mkdir(settings.cgroup, 0755), 0);
	write_in(settings.cgroup, "cgroup.subtree_control", "+memory +pids");
	assert_int_equal(cgroup_make(&session, &most, &none, &fd), 0);
	close(fd);
	assert_int_equal(usage_of_users(ALICE, &u, 1), 1);
	assert_int_equal(u.pids, 0);
	assert_true(u.memory < 1 << 20);
	assert_int_equal(eater(16 << 20), 0);
	status = eater(64 << 20);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	/* to the end of the tests: the processes leave a moment later */
	assert_true(cgroup_limit_user(ALICE, &less));
	status = eater(16 << 20);
	assert_true(WIFSIGNALED(status));
	cgroup_sweep(&session);
	for (i = 0; i < 500 && rmdir(settings.cgroup) == -1; i++) {
		(void)usleep(10000);
		cgroup_sweep_all();
	}
	assert_int_equal(access(settings.cgroup, F_OK), -1);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, set_up, tree_remove)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(limits_of_a_leaf),
		T(limits_of_a_user),
		T(what_users_use),
		T(without_controllers),
		T(of_debuggers),
		T(killed),
		T(all_at_once),
		T(one_after_the_other),
		T(none_delegated),
		cmocka_unit_test(kernels_own),
	};
	size_t n = sizeof(tests) / sizeof(tests[0]);

	/* the last one is of the controllers, where they can be had */
	return _cmocka_run_group_tests("cgroups", tests,
	    kernel_tree() ? n : n - 1, NULL, NULL);
}
