/* SPDX-License-Identifier: ISC */
/* A symbolic link with the file's name, to the fd of the image. */
#include <sys/stat.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "image.h"
#include "role.h"

/* The first that the first process of a pid namespace starts. */
#define PROGRAM_PID	2

static char	path[PATH_MAX];
/* The directory made for the link, empty = none. */
static char	aside[PATH_MAX];

bool
image_has_name(const struct run_spec *r)
{
	const char *name = r->exec_path;

	return !r->command && !r->bundle && name[0] != '\0' &&
	    strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
	    strcmp(name, "..") != 0 && strlen(name) <= FILE_NAME_LEN;
}

/* path becomes that of the link, without what the session does not see. */
static bool
put_link(const struct run_spec *r, const char *dir, size_t skip,
    const char *target)
{
	char at[PATH_MAX];
	int n = snprintf(at, sizeof(at), "%s/%s", dir, r->exec_path);

	if (n < 0 || (size_t)n >= sizeof(at) || symlink(target, at) == -1)
		return false;
	memcpy(path, at + skip, (size_t)n - skip + 1);
	return true;
}

void
image_link(const struct run_spec *r, const char *prefix)
{
	char dir[PATH_MAX], target[32];

	if (r->adapter)
		/* the adapter's children execute it, without its fds */
		(void)snprintf(target, sizeof(target), "/proc/%d/fd/%d",
		    PROGRAM_PID, ADAPTER_IMAGE_FD);
	else
		(void)snprintf(target, sizeof(target), "/proc/self/fd/%d",
		    KEPT_FD);
	(void)snprintf(dir, sizeof(dir), "%s%s/" IMAGE_NAME, prefix,
	    settings.state_dir);
	if (mkdir(dir, 0555) == 0)
		(void)put_link(r, dir, strlen(prefix), target);
}

void
image_link_aside(const struct run_spec *r)
{
	char target[32];

	(void)snprintf(target, sizeof(target), "/proc/self/fd/%d", KEPT_FD);
	(void)snprintf(aside, sizeof(aside), "%s/tmp/" IMAGE_NAME "-XXXXXX",
	    settings.state_dir);
	if (mkdtemp(aside) == NULL)
		aside[0] = '\0';
	else if (!put_link(r, aside, 0, target))
		image_unlink();
}

void
image_unlink(void)
{
	if (aside[0] == '\0')
		return;
	if (path[0] != '\0')
		(void)unlink(path);
	(void)rmdir(aside);
	aside[0] = '\0';
}

const char *
image_path(void)
{
	return path;
}
