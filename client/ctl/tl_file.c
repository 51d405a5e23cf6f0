/* SPDX-License-Identifier: ISC */
/* Timelines in files of the user's own: opened to be read, so that nothing in
 * them changes, and several can look at the same time. */
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "client/lib/report.h"
#include "timeline/store/store.h"
#include "tl_file.h"

#define KEPT	".local/state/debuglantern/timelines"

static int
open_kept(const char *home)
{
	char path[PATH_MAX];

	if (home == NULL || *home != '/' || (size_t)snprintf(path,
	    sizeof(path), "%s/" KEPT, home) >= sizeof(path)) {
		errno = ENOENT;
		return -1;
	}
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Tracers write to the home of the account, whatever HOME says. */
int
tl_kept_dir(void)
{
	const struct passwd *pw = getpwuid(getuid());
	int fd = open_kept(pw == NULL ? NULL : pw->pw_dir);

	if (fd != -1 || (errno != ENOENT && errno != ENOTDIR))
		return fd;
	return open_kept(getenv("HOME"));
}

/* Cuts the suffix that one of the files has. */
static void
cut_suffix(char *path)
{
	size_t len = strlen(path), n;
	const char *suffix;
	int i;

	for (i = 0; (suffix = store_file_suffix(i)) != NULL; i++) {
		n = strlen(suffix);
		if (len > n && strcmp(path + len - n, suffix) == 0) {
			path[len - n] = '\0';
			return;
		}
	}
}

bool
tl_is_file(const char *word)
{
	char path[PATH_MAX];

	if (strchr(word, '/') != NULL)
		return true;
	if (strlcpy(path, word, sizeof(path)) >= sizeof(path))
		return false;
	cut_suffix(path);
	return strlcat(path, store_file_suffix(0), sizeof(path)) <
	    sizeof(path) && access(path, F_OK) == 0;
}

static void
report_missing(const char *shown, int error)
{
	const char *why = strerror(error);

	if (error == ENOENT && access(shown, F_OK) == 0)
		why = "that is no timeline";
	report("%s: %s%s", shown, why, error == ENOENT ? "; a timeline is "
	    "NAME.calls and NAME.db, beside each other" : "");
}

static struct store *
open_in(int dir_fd, const char *name, const char *shown)
{
	struct store_limits limits = STORE_LIMITS_DEFAULT;
	struct store_files files;
	char why[STORE_WHY];
	struct store *st;

	/* what there is to say is said here */
	log_init(CTL_NAME, LOG_L_ERROR, NULL);
	if (store_files_to_read(dir_fd, name, &files) == -1) {
		report_missing(shown, errno);
		return NULL;
	}
	if ((st = store_open(&files, NULL, &limits, why)) == NULL)
		report("%s: %s", shown, why);
	return st;
}

struct store *
tl_file_open(const char *path)
{
	char dir[PATH_MAX], *slash;
	const char *name = dir;
	struct store *st;
	int dir_fd;

	if (strlcpy(dir, path, sizeof(dir)) >= sizeof(dir)) {
		report("%s: %s", path, strerror(ENAMETOOLONG));
		return NULL;
	}
	cut_suffix(dir);
	dir_fd = AT_FDCWD;
	if ((slash = strrchr(dir, '/')) != NULL) {
		name = slash + 1;
		dir_fd = open(slash == dir ? "/" : (*slash = '\0', dir),
		    O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir_fd == -1) {
			report("%s: %s", dir, strerror(errno));
			return NULL;
		}
	}
	st = open_in(dir_fd, name, path);
	if (dir_fd != AT_FDCWD)
		close(dir_fd);
	return st;
}

struct store *
tl_kept_open(const char *name, bool *there)
{
	char path[NAME_MAX + 1];
	struct store *st = NULL;
	int dir_fd = tl_kept_dir();

	*there = dir_fd != -1 && strchr(name, '/') == NULL &&
	    (size_t)snprintf(path, sizeof(path), "%s%s", name,
	    store_file_suffix(0)) < sizeof(path) &&
	    faccessat(dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (*there)
		st = open_in(dir_fd, name, name);
	if (dir_fd != -1)
		close(dir_fd);
	return st;
}
