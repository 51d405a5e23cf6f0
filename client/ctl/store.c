/* SPDX-License-Identifier: ISC */
/*
 * Small files of "KEY VALUE" lines below ~/.config/debuglantern: hosts that are
 * known and tokens. Files that other users could have written are not trusted.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/report.h"
#include "store.h"

#define SIZE_LIMIT	(16U << 20)	/* no file of ours gets there */

const char *
store_path(const char *name, char *buf)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *sub = "";
	struct passwd *pw;

	/* The specification: relative ones are to be ignored. */
	if (base == NULL || *base != '/') {
		base = getenv("HOME");
		sub = "/.config";
	}
	if ((base == NULL || *base != '/') && (pw = getpwuid(getuid())))
		base = pw->pw_dir;
	snprintf(buf, STORE_PATH, "%s%s/debuglantern%s%s",
	    base != NULL ? base : "", sub, *name != '\0' ? "/" : "", name);
	return buf;
}

/* Makes the directory and those above it. 0, or -1 and errno. */
static int
make_directory(void)
{
	char path[STORE_PATH], *slash;

	store_path("", path);
	for (slash = path + 1; (slash = strchr(slash, '/')) != NULL;
	    *slash++ = '/') {
		*slash = '\0';
		if (mkdir(path, 0700) == -1 && errno != EEXIST)
			return -1;
	}
	return mkdir(path, 0700) == -1 && errno != EEXIST ? -1 : 0;
}

/* Checks who can write there: another user could replace our file. */
static int
check(int fd, const char *path, mode_t others)
{
	struct stat st;

	if (fstat(fd, &st) == -1) {
		report("%s: %s", path, strerror(errno));
		return -1;
	}
	if (st.st_uid != geteuid()) {
		report("%s belongs to uid %u, not to you; it is not used",
		    path, st.st_uid);
		return -1;
	}
	if ((st.st_mode & others) == 0)
		return 0;
	report("%s can be %s by others; correct it: chmod go-rwx %s", path,
	    others & 044 ? "read" : "written", path);
	return -1;
}

/* -1 and *code: CTL_OK when it does not exist. */
static int
open_directory(int *code)
{
	char path[STORE_PATH];
	int dir_fd;

	*code = CTL_OK;
	dir_fd = open(store_path("", path), O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);
	if (dir_fd == -1 && errno == ENOENT)
		return -1;
	if (dir_fd != -1 && check(dir_fd, path, 022) == 0)
		return dir_fd;
	*code = CTL_USAGE;
	if (dir_fd == -1)
		report("%s: %s", path, strerror(errno));
	else
		close(dir_fd);
	return -1;
}

/* Reads all of a file; 0, or -1 and errno. */
static int
read_all(struct store *s, int file_fd)
{
	struct stat st;
	ssize_t n;

	if (fstat(file_fd, &st) == -1)
		return -1;
	if (!S_ISREG(st.st_mode) || st.st_size > SIZE_LIMIT) {
		errno = EINVAL;
		return -1;
	}
	s->size = (size_t)st.st_size + 1;
	if ((s->text = calloc(1, s->size)) == NULL)
		return -1;
	s->next = s->text;
	n = read(file_fd, s->text, s->size - 1);
	return n == -1 ? -1 : 0;
}

static int
load_at(struct store *s, int dir_fd, const char *name, int secret)
{
	char path[STORE_PATH];
	int code = CTL_USAGE, file_fd;

	memset(s, 0, sizeof(*s));
	file_fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
	    O_NONBLOCK);
	if (file_fd == -1 && errno == ENOENT)
		return CTL_OK;
	store_path(name, path);
	if (file_fd == -1)
		report("%s: %s", path, strerror(errno));
	else if (check(file_fd, path, secret ? 077 : 022) == 0) {
		if (read_all(s, file_fd) == 0)
			code = CTL_OK;
		else
			report("%s: %s", path, strerror(errno));
	}
	if (file_fd != -1)
		close(file_fd);
	if (code != CTL_OK)
		store_free(s);
	return code;
}

int
store_load(struct store *s, const char *name, int secret)
{
	int code, dir_fd;

	memset(s, 0, sizeof(*s));
	if ((dir_fd = open_directory(&code)) == -1)
		return code;
	code = load_at(s, dir_fd, name, secret);
	close(dir_fd);
	return code;
}

void
store_free(struct store *s)
{
	if (s->text != NULL)
		explicit_bzero(s->text, s->size);
	free(s->text);
	memset(s, 0, sizeof(*s));
}

int
store_next(struct store *s, const char **key, const char **value)
{
	char *line, *space;

	while (s->text != NULL && (line = strsep(&s->next, "\n")) != NULL) {
		s->line++;
		if (*line == '#' || (space = strchr(line, ' ')) == NULL)
			continue;
		*space = '\0';
		*key = line;
		*value = space + 1;
		return 1;
	}
	return 0;
}

/* Whether a line is the entry of a key. */
static int
is_entry(const char *line, const char *key)
{
	size_t len = strlen(key);

	return strncmp(line, key, len) == 0 && line[len] == ' ';
}

/* Writes the old lines but the key's, and the new one. CTL_REFUSED: there
 * was nothing to do. */
static int
write_lines(struct store *old, FILE *out, const char *key, const char *value)
{
	int found = 0;
	char *line;

	while (old->text != NULL &&
	    (line = strsep(&old->next, "\n")) != NULL) {
		if (is_entry(line, key))
			found = 1;
		else if (*line != '\0')
			fprintf(out, "%s\n", line);
	}
	if (value != NULL)
		fprintf(out, "%s %s\n", key, value);
	if (fflush(out) != 0 || fsync(fileno(out)) != 0)
		return CTL_USAGE;
	return value != NULL || found ? CTL_OK : CTL_REFUSED;
}

/* The directory is locked: two that write would lose one's change. */
static int
replace(int dir_fd, const char *name, const char *key, const char *value)
{
	char part[64], path[STORE_PATH];
	struct store old;
	FILE *out = NULL;
	int code, part_fd;

	if ((code = load_at(&old, dir_fd, name, 0)) != CTL_OK)
		return code;
	code = CTL_USAGE;
	snprintf(part, sizeof(part), ".%s.%d", name, (int)getpid());
	part_fd = openat(dir_fd, part, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (part_fd == -1 || (out = fdopen(part_fd, "w")) == NULL)
		goto done;
	/* no copy of a token in a buffer that nobody wipes */
	setvbuf(out, NULL, _IONBF, 0);
	code = write_lines(&old, out, key, value);
	if (code == CTL_OK && renameat(dir_fd, part, dir_fd, name) == -1)
		code = CTL_USAGE;
done:
	if (code == CTL_USAGE)
		report("cannot write %s: %s", store_path(name, path),
		    strerror(errno));
	if (out != NULL)
		fclose(out);
	else if (part_fd != -1)
		close(part_fd);
	if (code != CTL_OK && part_fd != -1)
		unlinkat(dir_fd, part, 0);
	store_free(&old);
	return code;
}

int
store_set(const char *name, const char *key, const char *value)
{
	char path[STORE_PATH];
	int code, dir_fd;

	if (value != NULL && make_directory() == -1) {
		report("cannot make %s: %s", store_path("", path),
		    strerror(errno));
		return CTL_USAGE;
	}
	if ((dir_fd = open_directory(&code)) == -1)
		return code == CTL_OK ? CTL_REFUSED : code;
	if (flock(dir_fd, LOCK_EX) == -1) {
		report("cannot lock %s: %s", store_path("", path),
		    strerror(errno));
		code = CTL_USAGE;
	} else
		code = replace(dir_fd, name, key, value);
	close(dir_fd);
	return code;
}
