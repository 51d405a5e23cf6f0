/* SPDX-License-Identifier: ISC */
/*
 * A tree of plain files that looks like the kernel's: control groups, /proc.
 * Each test has its own, as set up and torn down by tree_make() and
 * tree_remove().
 */
#ifndef TEST_TREE_H
#define TEST_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_tmp.h"

#define TREE_TEST(f)	cmocka_unit_test_setup_teardown(f, tree_make,	\
			    tree_remove)

static char	tree[128];
static int	tree_fd = -1;

static int
tree_make(void **state)
{
	(void)state;
	if (tmp_dir(tree, sizeof(tree), "dl-test-tree-XXXXXX") == -1)
		return -1;
	tree_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return tree_fd == -1 ? -1 : 0;
}

static int
tree_take_away(const char *path, const struct stat *st, int what,
    struct FTW *f)
{
	(void)st;
	(void)what;
	(void)f;
	return remove(path);
}

static int
tree_remove(void **state)
{
	(void)state;
	close(tree_fd);
	return nftw(tree, tree_take_away, 8, FTW_DEPTH | FTW_PHYS);
}

/* A file, and the directories on the way to it. */
static inline void
tree_put(const char *name, const char *text)
{
	char path[128], *slash;
	int fd;

	assert_true(strlen(name) < sizeof(path));
	(void)strcpy(path, name);
	for (slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdirat(tree_fd, path, 0755);
		*slash = '/';
	}
	fd = openat(tree_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_int_not_equal(fd, -1);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static inline bool
tree_has(const char *name)
{
	struct stat st;

	return fstatat(tree_fd, name, &st, 0) == 0;
}

static inline void
tree_expect(const char *name, const char *want)
{
	char text[64] = "";
	int fd = openat(tree_fd, name, O_RDONLY);

	assert_int_not_equal(fd, -1);
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	assert_string_equal(text, want);
}

#endif
