/* SPDX-License-Identifier: ISC */
/* Timelines that were kept: listing and deleting them. */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/table.h"
#include "timeline.h"
#include "timeline/store/store.h"
#include "tl_file.h"

/* -- one of them ----------------------------------------------------------- */

/* Name and suffix; -1 when that is too long for a file. */
static int
file_name(char path[NAME_MAX + 1], const char *name, int i)
{
	return (size_t)snprintf(path, NAME_MAX + 1, "%s%s", name,
	    store_file_suffix(i)) <= NAME_MAX ? 0 : -1;
}

/* Disk space of a timeline's files; the file of calls is sparse. */
static int64_t
size_of(int dir_fd, const char *name)
{
	char path[NAME_MAX + 1];
	struct stat st;
	int64_t size = 0;
	int i;

	for (i = 0; store_file_suffix(i) != NULL; i++)
		if (file_name(path, name, i) == 0 && fstatat(dir_fd, path,
		    &st, AT_SYMLINK_NOFOLLOW) == 0)
			size += st.st_blocks * 512;
	return size;
}

/* "2026-11-22 16:40:05", of here */
static const char *
date_of(int64_t seconds, char buf[24])
{
	time_t when = (time_t)seconds;
	struct tm tm;

	if (localtime_r(&when, &tm) == NULL ||
	    strftime(buf, 24, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		strcpy(buf, "?");
	return buf;
}

/* Adds what a timeline's files say about it. */
static void
add_meta(struct json_object *o, int dir_fd, const char *name)
{
	struct store_files files;
	char why[STORE_WHY];
	struct store *st;
	const struct store_meta *m;

	if (store_files_to_read(dir_fd, name, &files) == -1) {
		args_text(o, "trouble", strerror(errno));
		return;
	}
	if ((st = store_peek(&files, why)) == NULL) {
		args_text(o, "trouble", why);
		return;
	}
	m = store_meta(st);
	json_object_object_add(o, "program",
	    json_object_new_string(args_is_text(m->binary_path) ?
	    m->binary_path : "?"));
	args_number(o, "startedAt", m->started_at);
	json_object_object_add(o, "status", json_object_new_string(
	    args_is_text(m->status) ? m->status : "?"));
	store_close(st, true);
}

/* -- all of them ----------------------------------------------------------- */

static int
by_name(const void *va, const void *vb)
{
	return strcmp(*(char *const *)va, *(char *const *)vb);
}

/* Adds the name that a file of calls stands for; how many there are then. */
static size_t
add_name(char ***names, size_t n, const char *file)
{
	const char *suffix = store_file_suffix(0);
	size_t len = strlen(file), cut = strlen(suffix);
	char **more;

	if (len <= cut || strcmp(file + len - cut, suffix) != 0)
		return n;
	more = reallocarray(*names, n + 1, sizeof(*more));
	if (more == NULL)
		return n;
	*names = more;
	return (more[n] = strndup(file, len - cut)) != NULL ? n + 1 : n;
}

static size_t
read_names(int dir_fd, char ***names)
{
	struct dirent *e;
	size_t n = 0;
	DIR *dir;

	*names = NULL;
	if ((dir = fdopendir(dup(dir_fd))) == NULL)
		return 0;
	while ((e = readdir(dir)) != NULL)
		n = add_name(names, n, e->d_name);
	closedir(dir);
	if (n > 0)
		qsort(*names, n, sizeof(**names), by_name);
	return n;
}

static struct json_object *
list_all(int dir_fd)
{
	struct json_object *list = json_object_new_array(), *o;
	char **names;
	size_t i, n;

	log_init(CTL_NAME, LOG_L_ERROR, NULL);
	n = read_names(dir_fd, &names);
	for (i = 0; i < n; i++) {
		/* a name that is no text is not one of a tracer's */
		if (args_is_text(names[i])) {
			o = json_object_new_object();
			args_text(o, "name", names[i]);
			args_number(o, "bytes", size_of(dir_fd, names[i]));
			add_meta(o, dir_fd, names[i]);
			json_object_array_add(list, o);
		}
		free(names[i]);
	}
	free(names);
	return list;
}

static void
print_kept(struct json_object *list, FILE *out)
{
	static const struct table_column columns[] = {
		{ "NAME", .keep = 1 }, { "SIZE", .right = 1, .keep = 1 },
		{ "STARTED", .keep = 1 }, { .title = "PROGRAM" },
		{ .title = "STATUS" },
	};
	char bytes[TERM_BYTES], date[24];
	struct json_object *o;
	struct table *t;
	int64_t n;
	size_t i;

	if (json_object_array_length(list) == 0) {
		fputs("no timelines are kept\n", out);
		return;
	}
	t = table_new(columns, 5);
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		table_cell(t, reply_str(o, "name", "?"), PLAIN);
		n = 0;
		reply_int(o, "bytes", &n);
		table_cell(t, term_bytes((uint64_t)n, bytes), PLAIN);
		table_cell(t, reply_int(o, "startedAt", &n) ? date_of(n,
		    date) : "", PLAIN);
		table_cell(t, reply_str(o, "program", ""), PLAIN);
		table_cell(t, reply_str(o, "trouble", reply_str(o, "status",
		    "")), PLAIN);
	}
	table_print(t, out, term_width(STDOUT_FILENO), 0,
	    term_colours(STDOUT_FILENO));
	table_free(t);
}

int
timeline_list_kept(struct client *c)
{
	struct json_object *list;
	int dir_fd = tl_kept_dir();

	if (dir_fd == -1 && errno != ENOENT)
		return usage_error("where timelines are kept: %s",
		    strerror(errno));
	list = dir_fd == -1 ? json_object_new_array() : list_all(dir_fd);
	if (dir_fd != -1)
		close(dir_fd);
	return client_show(c, list, print_kept);
}

/* -- deleting -------------------------------------------------------------- */

/* Whether nobody writes to it: who does has its calls locked. */
static bool
is_free(int dir_fd, const char *name)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	char path[NAME_MAX + 1];
	bool locked = false;
	int fd;

	if (file_name(path, name, 0) == -1)
		return true;
	fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK);
	if (fd == -1)
		return true;
	locked = fcntl(fd, F_OFD_SETLK, &lock) == -1 &&
	    (errno == EAGAIN || errno == EACCES);
	close(fd);
	return !locked;
}

static int
delete_one(int dir_fd, const char *name)
{
	char path[NAME_MAX + 1];
	int i, gone = 0;

	if (strchr(name, '/') != NULL)
		return usage_error("%s: give the name of a kept timeline; "
		    "files elsewhere are yours to remove", name);
	/* there is no directory when nothing was ever kept */
	if (dir_fd != -1 && !is_free(dir_fd, name)) {
		report("%s is being written; \"%s trace stop %s\" ends that",
		    name, CTL_NAME, name);
		return CTL_REFUSED;
	}
	for (i = 0; dir_fd != -1 && store_file_suffix(i) != NULL; i++) {
		if (file_name(path, name, i) == 0 && unlinkat(dir_fd, path,
		    0) == 0)
			gone++;
		else if (errno != ENOENT)
			return usage_error("%s: %s", name, strerror(errno));
	}
	if (gone > 0)
		return CTL_OK;
	report("no timeline \"%s\" is kept; \"%s timeline --kept\" lists "
	    "them", name, CTL_NAME);
	return CTL_REFUSED;
}

/* Goes on after a refusal, so that one wrong name does not keep the others. */
int
ctl_timeline_delete(struct client *c, int argc, char **argv)
{
	int code, i, worst = CTL_OK, dir_fd = tl_kept_dir();

	(void)c;
	for (i = 0; i < argc; i++) {
		errno = ENOENT;
		code = delete_one(dir_fd, argv[i]);
		if (code > worst)
			worst = code;
	}
	if (dir_fd != -1)
		close(dir_fd);
	return worst;
}
