/* SPDX-License-Identifier: ISC */
/*
 * Source files, read as the owner: found by the client's directory and by
 * the end of their paths, bounded, the latest few kept.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "debugger/base/format.h"
#include "debugger/text/json_make.h"
#include "source.h"

#define FILES		4
#define FILE_MOST	(16U << 20)

struct text {
	char		 file[PATH_MAX];
	struct stat	 st;
	char		*bytes;
	size_t		 len;
	size_t		*start;		/* of each line, and the end */
	size_t		 lines;
	uint64_t	 used;		/* by the clock below */
};
static struct text	texts[FILES];
static uint64_t		clock_;

/* -- paths -------------------------------------------------------------- */
void
source_absolute(const char *path, const char *cwd, char *out, size_t room)
{
	char joined[PATH_MAX * 2], *part, *save = NULL;
	size_t len = 0;

	if (path[0] == '/')
		snprintf(joined, sizeof(joined), "%s", path);
	else
		snprintf(joined, sizeof(joined), "%s/%s", cwd, path);
	out[0] = '\0';
	for (part = strtok_r(joined, "/", &save); part != NULL;
	    part = strtok_r(NULL, "/", &save)) {
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			while (len > 0 && out[--len] != '/')
				;
			out[len] = '\0';
			continue;
		}
		if (len + strlen(part) + 2 > room)
			break;
		len += (size_t)snprintf(out + len, room - len, "/%s", part);
	}
	if (len == 0)
		snprintf(out, room, "/");
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool
source_find(const char *path, const char *cwd, char *out, size_t room)
{
	const char *end = path;

	if (path[0] == '\0')
		return false;
	source_absolute(path, cwd, out, room);
	if (is_file(out))
		return true;
	/* built elsewhere: the longest end that is here is it */
	while ((end = strchr(end, '/')) != NULL) {
		while (*end == '/')
			end++;
		if (*end == '\0')
			break;
		source_absolute(end, cwd, out, room);
		if (is_file(out))
			return true;
	}
	return false;
}

/* -- text --------------------------------------------------------------- */
static void
text_drop(struct text *t)
{
	free(t->bytes);
	free(t->start);
	*t = (struct text) { .len = 0 };
}

static bool
index_lines(struct text *t)
{
	size_t i, n = 1;
	const char *p;

	for (i = 0; i < t->len; i++)
		n += t->bytes[i] == '\n';
	if ((t->start = calloc(n + 2, sizeof(*t->start))) == NULL)
		return false;
	for (n = 1, p = t->bytes;
	    (p = memchr(p, '\n', (size_t)(t->bytes + t->len - p))) != NULL;)
		t->start[n++] = (size_t)(++p - t->bytes);
	/* a last line need not end with a newline */
	if (t->start[n - 1] < t->len)
		t->start[n++] = t->len + 1;
	t->lines = n - 1;
	return true;
}

static bool
read_all(struct text *t, int fd)
{
	ssize_t n;

	t->len = (size_t)t->st.st_size;
	if ((t->bytes = malloc(t->len + 1)) == NULL)
		return false;
	for (size_t at = 0; at < t->len; at += (size_t)n) {
		n = read(fd, t->bytes + at, t->len - at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0) {
			t->len = at;	/* it became shorter meanwhile */
			break;
		}
	}
	return index_lines(t);
}

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The one held, else the one used least lately. */
static struct text *
slot_for(const char *file)
{
	struct text *oldest = &texts[0];
	size_t i;

	for (i = 0; i < FILES; i++) {
		if (strcmp(texts[i].file, file) == 0)
			return &texts[i];
		if (texts[i].used < oldest->used)
			oldest = &texts[i];
	}
	return oldest;
}

static struct text *
text_of(const char *file)
{
	struct text *t;
	struct stat st;
	int fd;

	if (strlen(file) >= sizeof(t->file))
		return NULL;
	t = slot_for(file);
	if (strcmp(t->file, file) == 0 && stat(file, &st) == 0 &&
	    same_file(&st, &t->st)) {
		t->used = ++clock_;
		return t;
	}
	text_drop(t);
	/* a FIFO or a terminal must not hold us up */
	if ((fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) <
	    0)
		return NULL;
	if (fstat(fd, &t->st) != 0 || !S_ISREG(t->st.st_mode) ||
	    t->st.st_size > FILE_MOST || !read_all(t, fd)) {
		close(fd);
		text_drop(t);
		return NULL;
	}
	close(fd);
	snprintf(t->file, sizeof(t->file), "%s", file);
	t->used = ++clock_;
	return t;
}

static const char *
line_of(const struct text *t, int64_t line, size_t *len)
{
	const char *p;

	if (line < 1 || (size_t)line > t->lines)
		return NULL;
	p = t->bytes + t->start[line - 1];
	*len = t->start[line] - t->start[line - 1] - 1;
	if (*len > 0 && p[*len - 1] == '\r')
		(*len)--;
	return p;
}

const char *
source_line(const char *file, int64_t line, size_t *len)
{
	struct text *t = text_of(file);

	return t == NULL ? NULL : line_of(t, line, len);
}

int64_t
source_lines(const char *file)
{
	struct text *t = text_of(file);

	return t == NULL ? 0 : (int64_t)t->lines;
}

static struct json_object *
part_of(const struct text *t, const char *name, int64_t first, int64_t count,
    int64_t current)
{
	struct json_object *o, *lines;
	const char *p;
	size_t len;
	int64_t i;

	if (first < 1)
		first = 1;
	if (count > SOURCE_MOST)
		count = SOURCE_MOST;
	if (line_of(t, first, &len) == NULL)
		return NULL;
	o = jobject();
	jput_str(o, "file", name);
	jput_int(o, "first", first);
	if (current > 0)
		jput_int(o, "current", current);
	lines = jarray();
	for (i = 0; i < count; i++) {
		if ((p = line_of(t, first + i, &len)) == NULL)
			break;
		jadd(lines, jtext_clean(p, format_cut(p, len, SOURCE_WIDTH)));
	}
	jput(o, "lines", lines);
	return o;
}

struct json_object *
source_part(const char *file, int64_t first, int64_t count, int64_t current)
{
	struct text *t = text_of(file);

	return t == NULL ? NULL : part_of(t, file, first, count, current);
}

struct json_object *
source_of_text(const char *name, const char *text, int64_t first,
    int64_t count, int64_t current)
{
	struct text t = { .len = strlen(text) };
	struct json_object *o = NULL;

	if ((t.bytes = strdup(text)) != NULL && index_lines(&t))
		o = part_of(&t, name, first, count, current);
	text_drop(&t);
	return o;
}

/* -- declarations ------------------------------------------------------- */
#define DECLARED_ABOVE	4000	/* lines to go back at most */
#define DECLARATION	2048	/* bytes of one */

static bool
word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/*
 * Does this line declare the function?  Returns what follows the bracket
 * that opens the parameters: `def name(` or `func (r *T) name(`.
 */
static const char *
declares(const char *line, const char *name)
{
	const char *p = line + strspn(line, " \t");
	size_t n = strlen(name);

	if (strncmp(p, "async ", 6) == 0)
		p += 6;
	if (strncmp(p, "def ", 4) == 0)
		p += 4;
	else if (strncmp(p, "func ", 5) == 0) {
		p += 5;
		if (*p == '(' && (p = strchr(p, ')')) != NULL)
			p++;
	} else
		return NULL;
	if (p == NULL)
		return NULL;
	p += strspn(p, " \t");
	if (strncmp(p, name, n) != 0 || word_char(p[n]))
		return NULL;
	p = strchr(p + n, '(');
	return p == NULL ? NULL : p + 1;
}

/* The receiver of a method in Go is an argument too. */
static void
add_receiver(struct json_object *names, const char *line)
{
	const char *p = strstr(line, "func (");
	size_t n = 0;

	if (p == NULL)
		return;
	p += 6;
	while (word_char(p[n]))
		n++;
	if (n > 0 && (p[n] == ' ' || p[n] == '\t'))
		jadd(names, jtext_len(p, n));
}

/* The first word of each part between commas, brackets counted. */
static void
add_params(struct json_object *names, const char *p)
{
	int depth = 0;
	bool fresh = true;
	size_t n;

	for (; *p != '\0' && depth >= 0; p++) {
		if (fresh && word_char(*p)) {
			for (n = 1; word_char(p[n]);)
				n++;
			jadd(names, jtext_len(p, n));
			p += n - 1;
			fresh = false;
		} else if (*p == ',' && depth == 0)
			fresh = true;
		else if (strchr("([{", *p) != NULL)
			depth++;
		else if (strchr(")]}", *p) != NULL)
			depth--;
	}
}

/* Some lines from line on, as one string. */
static void
join_lines(const struct text *t, int64_t line, char *out, size_t room)
{
	const char *p;
	size_t len, at = 0;

	while ((p = line_of(t, line++, &len)) != NULL && at + len + 2 < room) {
		memcpy(out + at, p, len);
		at += len;
		out[at++] = ' ';
	}
	out[at] = '\0';
}

/* main.(*T).Add -> Add */
static const char *
last_name(const char *function)
{
	const char *dot = strrchr(function, '.');

	return dot == NULL ? function : dot + 1;
}

struct json_object *
source_params(const char *file, int64_t line, const char *function)
{
	struct text *t = text_of(file);
	const char *name = last_name(function), *p, *open;
	struct json_object *names;
	char decl[DECLARATION];
	int64_t stop;
	size_t len;

	if (t == NULL || *name == '\0')
		return NULL;
	stop = line > DECLARED_ABOVE ? line - DECLARED_ABOVE : 1;
	for (; line >= stop; line--) {
		/* most lines are told apart without copying them */
		p = line_of(t, line, &len);
		if (p == NULL || memmem(p, len, name, strlen(name)) == NULL)
			continue;
		join_lines(t, line, decl, sizeof(decl));
		if ((open = declares(decl, name)) == NULL)
			continue;
		names = jarray();
		add_receiver(names, decl);
		add_params(names, open);
		return names;
	}
	return NULL;
}
