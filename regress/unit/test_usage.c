/* SPDX-License-Identifier: ISC */
/* links: launcher/observer/usage.c launcher/base/leaf.c */
/* launcher: what a session uses, read from a tree of files like the kernel's. */
#include "test_tree.h"

#include "launcher/observer/usage.h"
#include "wire/msg.h"
#include "wire/proto.h"

/* nothing comes over a channel here */
const msg_handler	msg_handlers[MSG_COUNT];

/* A process: its times in ticks, its pages, and the children of a thread. */
static void
process(int pid, const char *comm, int ticks, int pages, const char *children)
{
	char name[64], text[256];

	(void)snprintf(name, sizeof(name), "%d/stat", pid);
	(void)snprintf(text, sizeof(text), "%d (%s) S 1 2 3 4 5 6 7 8 9 10 %d "
	    "%d %d %d 20 0 1 0 100 4096 7\n", pid, comm, ticks, ticks, ticks,
	    ticks);
	tree_put(name, text);
	(void)snprintf(name, sizeof(name), "%d/statm", pid);
	(void)snprintf(text, sizeof(text), "99999 %d 1 1 0 1 0\n", pages);
	tree_put(name, text);
	(void)snprintf(name, sizeof(name), "%d/task/%d/children", pid, pid);
	tree_put(name, children);
}

static uint64_t
ticks(unsigned int n)
{
	return n * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t
pages(unsigned int n)
{
	return n * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
controllers_tell(void **state)
{
	struct usage u;

	(void)state;
	tree_put("cpu.stat", "usage_usec 1234567\nuser_usec 1000000\n"
	    "system_usec 234567\nnr_periods 0\n");
	tree_put("memory.current", "98765432100\n");
	tree_put("cgroup.procs", "17\n");
	process(17, "x", 1, 1, "");
	usage_of_leaf(tree_fd, tree_fd, &u);
	assert_int_equal(u.cpu_ns, 1234567000);
	assert_int_equal(u.memory, 98765432100);
}

/* No memory controller: each process of the cgroup, wherever it came from. */
static void
without_controllers(void **state)
{
	struct usage u;

	(void)state;
	tree_put("cpu.stat", "user_usec 5\nusage_usec 7\n");
	tree_put("cgroup.procs", "17\n0\n19\n23\n29");
	process(1, "init", 1, 1, "");
	process(17, "x", 1, 10, "");
	process(19, "y", 1, 20, "");
	process(29, "cut off", 1, 1000, "");
	usage_of_leaf(tree_fd, tree_fd, &u);
	assert_int_equal(u.cpu_ns, 7000);
	/* 23 has ended since, and of 29 more digits may follow */
	assert_int_equal(u.memory, pages(30));
}

/* hidepid: a part of the processes is no sum. */
static void
some_are_hidden(void **state)
{
	struct usage u;

	(void)state;
	tree_put("cpu.stat", "usage_usec 7\n");
	tree_put("cgroup.procs", "17\n19\n");
	process(17, "x", 1, 10, "");
	usage_of_leaf(tree_fd, tree_fd, &u);
	assert_int_equal(u.cpu_ns, 7000);
	assert_true(u.memory == USAGE_UNKNOWN);
}

static void
nobody_tells(void **state)
{
	struct usage u;

	(void)state;
	usage_of_leaf(tree_fd, tree_fd, &u);
	assert_true(u.cpu_ns == USAGE_UNKNOWN);
	assert_true(u.memory == USAGE_UNKNOWN);
	tree_put("cpu.stat", "nonsense\n");
	tree_put("cgroup.procs", "");
	tree_put("memory.current", "");
	usage_of_leaf(tree_fd, tree_fd, &u);
	assert_true(u.cpu_ns == USAGE_UNKNOWN);
	assert_true(u.memory == USAGE_UNKNOWN);
	usage_of_tree(17, tree_fd, &u);
	assert_true(u.cpu_ns == USAGE_UNKNOWN);
	assert_true(u.memory == USAGE_UNKNOWN);
}

static void
whoever_descends(void **state)
{
	struct usage u;

	(void)state;
	process(10, "stub", 1, 1, "11 12 ");
	process(11, "evil) S 9 9 (9", 2, 20, "");
	process(12, "threads", 3, 300, "");
	tree_put("12/task/44/children", "13 ");
	process(13, "deep", 4, 4000, "");
	process(14, "a stranger", 1000, 50000, "");
	usage_of_tree(10, tree_fd, &u);
	assert_int_equal(u.cpu_ns, ticks(4 * (1 + 2 + 3 + 4)));
	assert_int_equal(u.memory, pages(4321));
}

/* Files that a hostile session could have a hand in end nowhere but here. */
static void
odd_files(void **state)
{
	char many[4096] = "";
	struct usage u;
	int i;

	(void)state;
	/* a ring, as when numbers are used again while they are read */
	process(10, "a", 1, 1, "11 ");
	process(11, "b", 1, 1, "10 ");
	usage_of_tree(10, tree_fd, &u);
	assert_true(u.cpu_ns <= ticks(4 * 256));
	tree_put("10/stat", "10 no name at all");
	tree_put("10/statm", "none");
	tree_put("10/task/10/children", "x");
	usage_of_tree(10, tree_fd, &u);
	assert_true(u.cpu_ns == USAGE_UNKNOWN);
	tree_put("10/stat", "10 (cut) S 1 2");
	usage_of_tree(10, tree_fd, &u);
	assert_true(u.cpu_ns == USAGE_UNKNOWN);
	process(1, "init", 1, 1, "");
	/* more than are looked at */
	for (i = 0; i < 900; i++)
		(void)strcat(many, "11\n");
	tree_put("cgroup.procs", many);
	usage_of_leaf(tree_fd, tree_fd, &u);
	assert_int_equal(u.memory, pages(256));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(controllers_tell),
		TREE_TEST(without_controllers),
		TREE_TEST(some_are_hidden),
		TREE_TEST(nobody_tells),
		TREE_TEST(whoever_descends),
		TREE_TEST(odd_files),
	};

	return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
