/* SPDX-License-Identifier: ISC */
/* A file, or at least a name, for the image. */
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"
#include "steps.h"
#include "wire/role.h"

/* Room for the directory, the link, and the last page of the file. */
#define SLACK	(64 * 1024)

static char	path[PATH_MAX];
/* The directory made for the link, empty = none. */
static char	aside[PATH_MAX];

const char *
image_name(const struct run_spec *r)
{
	const char *slash = strrchr(r->exec_path, '/');
	const char *name = slash == NULL ? r->exec_path : slash + 1;

	return r->command || r->bundle || strlen(name) > FILE_NAME_LEN ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? "" : name;
}

/*
 * Written from a mapping: the kernel copies larger pieces that way than by
 * sendfile().  Nothing shortens a sealed image.
 */
static bool
copy_image(const char *at, size_t size)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0555);
	const char *p = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_POPULATE,
	    KEPT_FD, 0);
	size_t done = 0;
	ssize_t n = -1;

	if (fd == -1 || p == MAP_FAILED)
		return false;
	while (done < size && (n = write(fd, p + done, size - done)) > 0)
		done += (size_t)n;
	(void)munmap((void *)(uintptr_t)p, size);
	close(fd);
	return done == size;
}

/*
 * Over the path that the client has the program from, or the file that a link
 * leads to there: what looks for files beside itself finds them, where the
 * host has them.
 */
static bool
cover_original(const char *original, const char *at)
{
	struct stat there, copy;

	if (original[0] != '/' || stat(original, &there) == -1 ||
	    !S_ISREG(there.st_mode) ||
	    mount(at, original, NULL, MS_BIND, NULL) == -1)
		return false;
	/* a link of /proc goes past what is mounted */
	return stat(at, &copy) == 0 && stat(original, &there) == 0 &&
	    there.st_dev == copy.st_dev && there.st_ino == copy.st_ino;
}

/* Huge pages make the copy three times as fast, where the host has them. */
static bool
mount_memory(const char *dir, unsigned long flags, size_t size)
{
	static const char *const more[] = { ",huge=within_size", "" };
	char options[96];
	size_t i;

	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		(void)snprintf(options, sizeof(options),
		    "mode=0755,nr_inodes=8,size=%zu%s", size + SLACK, more[i]);
		if (mount("none", dir, "tmpfs", flags, options) == 0)
			return true;
		if (errno != EINVAL)
			break;
	}
	return false;
}

bool
image_file(const struct run_spec *r)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV;
	const char *name = image_name(r);
	char dir[sizeof(settings.state_dir) + sizeof(IMAGE_NAME) + 1];
	char hidden[sizeof(dir) + 1];
	struct stat st;

	if (!r->file || name[0] == '\0')
		return false;
	if (fstat(KEPT_FD, &st) == -1)
		child_die(STEP_IMAGE);
	if (!mount_memory(settings.state_dir, flags, (size_t)st.st_size)) {
		if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			child_die(STEP_MOUNT);
		return false;
	}
	(void)snprintf(dir, sizeof(dir), "%s/" IMAGE_NAME, settings.state_dir);
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (mkdir(dir, 0755) == -1 || !copy_image(path, (size_t)st.st_size))
		child_die(STEP_IMAGE);
	if (cover_original(r->exec_path, path)) {
		/* adapters know the name alone, and shall get to that path */
		(void)snprintf(hidden, sizeof(hidden), "%s.", dir);
		if (rename(path, hidden) == -1 ||
		    symlink(r->exec_path, path) == -1)
			child_die(STEP_IMAGE);
		(void)snprintf(path, sizeof(path), "%s", r->exec_path);
	}
	/* the whole file system, which the mount over the original shows too */
	if (mount(NULL, settings.state_dir, NULL, MS_REMOUNT | MS_RDONLY |
	    flags, NULL) == -1)
		child_die(STEP_IMAGE);
	return true;
}

void
image_link(const struct run_spec *r)
{
	const char *name = image_name(r);
	char target[32];
	int n;

	if (name[0] == '\0')
		return;
	(void)snprintf(aside, sizeof(aside), "%s/tmp/" IMAGE_NAME "-XXXXXX",
	    settings.state_dir);
	if (mkdtemp(aside) == NULL) {
		aside[0] = '\0';
		return;
	}
	(void)snprintf(target, sizeof(target), "/proc/self/fd/%d", KEPT_FD);
	n = snprintf(path, sizeof(path), "%s/%s", aside, name);
	if (n < 0 || (size_t)n >= sizeof(path) || symlink(target, path) == -1) {
		path[0] = '\0';
		image_unlink();
	}
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
