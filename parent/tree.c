/* SPDX-License-Identifier: ISC */
/* The end of the cgroup tree that setup has made. */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "parent.h"

/* A process that has just died leaves its cgroup a moment later. */
static int
remove_soon(const char *path)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	int tries;

	for (tries = 0; tries < 50; tries++) {
		if (rmdir(path) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return -1;
}

/*
 * Leaves the tree first: a cgroup with a process in it cannot be removed.  A
 * tree made by systemd is systemd's to remove.
 */
void
tree_remove(void)
{
	static const char *const parts[] = { "/sessions", "/daemon", "" };
	const int home_procs_fd = given_fd(GIVEN_HOME_PROCS);
	char path[PATH_LEN + 16];
	size_t i;

	if (!d.own_tree)
		return;
	if (home_procs_fd == -1 || write(home_procs_fd, "0", 1) != 1)
		log_warn("cannot leave the cgroup %s", d.tree);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", d.tree, parts[i]);
		if (remove_soon(path) == -1)
			log_warn("cannot remove the cgroup %s", path);
	}
}
