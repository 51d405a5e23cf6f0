/* SPDX-License-Identifier: ISC */
/* Names of cgroups. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "leaf.h"

/* Named by numbers.  False when the host delegates no cgroups. */
bool
leaf_user_path(char path[LEAF_PATH], uint32_t uid)
{
	if (settings.cgroup[0] == '\0')
		return false;
	(void)snprintf(path, LEAF_PATH, "%s/u%" PRIu32, settings.cgroup, uid);
	return true;
}

/* An instrument's is beside its session's: what ends that leaves it alone. */
bool
leaf_path(char path[LEAF_PATH], const struct cgroup_leaf *l)
{
	static const char *const prefixes[LEAF_COUNT] = {
		[LEAF_SESSION] = "",
		[LEAF_DEBUGGER] = "dbg-",
		[LEAF_TRACER] = "trc-",
	};
	const uint8_t *b = l->session.b;
	size_t i, len;

	if (!leaf_user_path(path, l->uid))
		return false;
	len = strlen(path);
	len += (size_t)snprintf(path + len, LEAF_PATH - len, "/%s",
	    prefixes[l->of]);
	for (i = 0; i < sizeof(l->session.b); i++)
		len += (size_t)snprintf(path + len, LEAF_PATH - len,
		    i >= 4 && i <= 10 && i % 2 == 0 ? "-%02x" : "%02x", b[i]);
	return true;
}

int
leaf_open_user(uint32_t uid)
{
	char path[LEAF_PATH];

	errno = ENOENT;
	if (!leaf_user_path(path, uid))
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int
leaf_open(const struct cgroup_leaf *l)
{
	char path[LEAF_PATH];

	errno = ENOENT;
	if (!leaf_path(path, l))
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
