/* SPDX-License-Identifier: ISC */
/*
 * Space that the timelines in a directory take.  Programs of the directory's
 * owner may put anything there: files are opened only to see who has them
 * locked, and nothing that is found is believed to be more than a name and a
 * size.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "timeline/store/store.h"
#include "timeused.h"

#define LARGEST		4		/* that are named */
#define LOOKED_AT	100000		/* files of one directory, at most */

#ifndef F_OFD_GETLK
#define F_OFD_GETLK	36
#endif

struct found {
	char	 name[NAME_MAX + 1];
	uint64_t bytes;
};

/* A file's blocks: calls are full of holes. */
static uint64_t
bytes_of(int dir_fd, const char *file)
{
	struct stat sb;

	if (fstatat(dir_fd, file, &sb, AT_SYMLINK_NOFOLLOW) == -1 ||
	    !S_ISREG(sb.st_mode))
		return 0;
	return (uint64_t)sb.st_blocks * 512;
}

/* Which of a timeline's files it is by its name, -1 = none; cuts the suffix. */
static int
part_of(char *name)
{
	size_t len = strlen(name), n;
	int i;

	for (i = 0; store_file_suffix(i) != NULL; i++) {
		n = strlen(store_file_suffix(i));
		if (len > n && strcmp(name + len - n, store_file_suffix(i)) ==
		    0) {
			name[len - n] = '\0';
			return i;
		}
	}
	return -1;
}

/* Tells each file of a timeline: its name, and which part it is. */
static void
look(int dir_fd, void (*tell)(int dir_fd, const char *file, const char *name,
    int part, void *arg), void *arg)
{
	int fd = dir_fd == -1 ? -1 : openat(dir_fd, ".", O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC), n = 0, part;
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);
	char name[NAME_MAX + 1];
	struct dirent *e;

	if (dir == NULL) {
		if (fd != -1)
			close(fd);
		return;
	}
	while (n++ < LOOKED_AT && (e = readdir(dir)) != NULL) {
		(void)snprintf(name, sizeof(name), "%s", e->d_name);
		if ((part = part_of(name)) != -1)
			tell(dir_fd, e->d_name, name, part, arg);
	}
	closedir(dir);
}

/* -- all of them ---------------------------------------------------------- */

struct sum {
	const char	*except;
	uint64_t	 bytes;
};

static void
add_one(int dir_fd, const char *file, const char *name, int part, void *arg)
{
	struct sum *sum = arg;

	/* its calls come first: what it evicts is its own */
	if (part != 0 || sum->except == NULL || strcmp(name, sum->except) != 0)
		sum->bytes += bytes_of(dir_fd, file);
}

uint64_t
timeused_bytes(int dir_fd, const char *except)
{
	struct sum sum = { .except = except };

	look(dir_fd, add_one, &sum);
	return sum.bytes;
}

/* -- the largest ---------------------------------------------------------- */

static uint64_t
bytes_of_all(int dir_fd, const char *name)
{
	char file[NAME_MAX + 16];
	uint64_t bytes = 0;
	int i;

	for (i = 0; store_file_suffix(i) != NULL; i++) {
		(void)snprintf(file, sizeof(file), "%s%s", name,
		    store_file_suffix(i));
		bytes += bytes_of(dir_fd, file);
	}
	return bytes;
}

static void
keep_largest(int dir_fd, const char *file, const char *name, int part,
    void *arg)
{
	struct found *all = arg, one;
	size_t i, at;

	(void)file;
	if (part != 0)
		return;
	one.bytes = bytes_of_all(dir_fd, name);
	(void)snprintf(one.name, sizeof(one.name), "%s", name);
	for (at = 0; at < LARGEST && all[at].bytes >= one.bytes; at++)
		;
	for (i = LARGEST - 1; at < LARGEST && i > at; i--)
		all[i] = all[i - 1];
	if (at < LARGEST)
		all[at] = one;
}

/* Tests whether a writer has the timeline's calls locked; takes no lock. */
static bool
is_in_use(int dir_fd, const char *name)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char file[NAME_MAX + 16];
	bool locked;
	int fd;

	(void)snprintf(file, sizeof(file), "%s%s", name, store_file_suffix(0));
	fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NOCTTY | O_NONBLOCK);
	if (fd == -1)
		return false;
	locked = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return locked;
}

void
timeused_largest(int dir_fd, struct text *t)
{
	struct found all[LARGEST];
	size_t i;

	memset(all, 0, sizeof(all));
	look(dir_fd, keep_largest, all);
	for (i = 0; i < LARGEST && all[i].bytes > 0; i++) {
		text_puts(t, i > 0 ? ", " : "");
		text_plain(t, all[i].name, strlen(all[i].name));
		text_puts(t, " (");
		timeused_size(t, all[i].bytes);
		text_puts(t, is_in_use(dir_fd, all[i].name) ?
		    ", of a session)" : ")");
	}
}

void
timeused_size(struct text *t, uint64_t bytes)
{
	const double mib = 1 << 20, gib = 1 << 30;

	if (bytes < 1 << 30)
		text_printf(t, "%.1f MiB", (double)bytes / mib);
	else
		text_printf(t, "%.1f GiB", (double)bytes / gib);
}
