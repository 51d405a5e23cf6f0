/* SPDX-License-Identifier: ISC */
/* links: launcher/observer/find.c launcher/base/ended.c launcher/base/leaf.c */
/* launcher: whether a process, known by its number, is a session's. */
#include "test_tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "launcher/base/ended.h"
#include "launcher/observer/find.h"
#include "wire/msg.h"
#include "wire/role.h"

/* nothing comes over a channel here */
const msg_handler	msg_handlers[MSG_COUNT];

#define PROCS	"u1001/01000000-0000-0000-0000-000000000000/cgroup.procs"

static const struct cgroup_leaf leaf = { 1001, { { 1 } }, LEAF_SESSION };
static int	proc_fd = -1, stub_fd = -1;
static pid_t	child, grandchild;

/* This process is the stub; below it a child, and that one's. */
static int
set_up(void **state)
{
	int up[2];

	if (tree_make(state) == -1 || pipe(up) == -1)
		return -1;
	settings.cgroup[0] = '\0';
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	stub_fd = pidfd_open(getpid(), 0);
	child = fork();
	if (child == 0) {
		grandchild = fork();
		if (grandchild != 0 &&
		    write(up[1], &grandchild, sizeof(grandchild)) == -1)
			_exit(1);
		for (;;)
			pause();
	}
	close(up[1]);
	if (read(up[0], &grandchild, sizeof(grandchild)) !=
	    sizeof(grandchild))
		return -1;
	close(up[0]);
	return proc_fd == -1 || stub_fd == -1 ? -1 : 0;
}

static int
tear_down(void **state)
{
	(void)kill(grandchild, SIGKILL);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	close(proc_fd);
	close(stub_fd);
	return tree_remove(state);
}

static void
expect(pid_t pid, const struct cgroup_leaf *l, bool found)
{
	pid_t inner = 0;
	int fd = find_process(proc_fd, pid, l, stub_fd, &inner);

	assert_int_equal(fd != -1, found);
	if (!found)
		return;
	assert_int_equal(find_pid(proc_fd, fd), pid);
	/* the tests' own namespace may be an inner one */
	assert_true(inner > 0);
	close(fd);
}

static void
below_the_stub(void **state)
{
	(void)state;
	expect(child, &leaf, true);
	expect(grandchild, &leaf, true);
	expect(getpid(), &leaf, false);
	expect(getppid(), &leaf, false);
	expect(1, &leaf, false);
	expect(INT32_MAX, &leaf, false);
}

static void
in_the_cgroup(void **state)
{
	char text[64];

	(void)state;
	(void)strcpy(settings.cgroup, tree);
	(void)snprintf(text, sizeof(text), "1\n%d\n", grandchild);
	tree_put(PROCS, text);
	expect(grandchild, &leaf, true);
	/* where the kernel says it, nothing else counts */
	expect(child, &leaf, false);
	expect(getpid(), &leaf, false);
	(void)snprintf(text, sizeof(text), "%d1\n", child);
	tree_put(PROCS, text);
	expect(child, &leaf, false);
}

static void
any(void **state)
{
	(void)state;
	expect(getpid(), NULL, true);
	expect(child, NULL, true);
	expect(INT32_MAX, NULL, false);
}

/* A number is not its process's any more when that has ended. */
static void
ended(void **state)
{
	int fd = pidfd_open(child, 0);
	siginfo_t si;

	(void)state;
	assert_false(has_ended(fd));
	assert_int_equal(find_pid(proc_fd, fd), child);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, &si, WEXITED | WNOWAIT),
	    0);
	assert_true(has_ended(fd));
	assert_int_equal(find_pid(proc_fd, fd), 0);
	expect(child, &leaf, false);
	expect(child, NULL, false);
	close(fd);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(below_the_stub),
		T(in_the_cgroup),
		T(any),
		T(ended),
	};

	return cmocka_run_group_tests_name("finding processes", tests, NULL,
	    NULL);
}
