/* SPDX-License-Identifier: ISC */
/* Which adapter a program needs, where it is, and what it is told. */
#include <json-c/json.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elffile.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_make.h"
#include "profile.h"

#define RANKS		3	/* of adapters for one language */
/* A path with a backslash before each of its bytes. */
#define QUOTED		(2 * 4096)

const struct profile *
profile_find(const char *name)
{
	const struct profile *p;

	for (p = profiles; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0 ||
		    (p->aka != NULL && strcmp(p->aka, name) == 0))
			return p;
	return NULL;
}

bool
profile_never(const struct profile *p, const char *request)
{
	const char *const *n;

	for (n = p->never; n != NULL && *n != NULL; n++)
		if (strcmp(*n, request) == 0)
			return true;
	return false;
}

/* Adapters that know nothing but this language come first. */
static unsigned int
rank_of(const struct profile *p, unsigned int language)
{
	if ((p->quirks & Q_CHOSEN_LAST) != 0)
		return RANKS - 1;
	return p->languages == language ? 0 : 1;
}

const struct profile *
profile_for(enum language lang, size_t n)
{
	const struct profile *p;
	const unsigned int bit = 1U << lang;
	unsigned int rank;

	for (rank = 0; rank < RANKS; rank++)
		for (p = profiles; p->name != NULL; p++)
			if ((p->languages & bit) != 0 &&
			    rank_of(p, bit) == rank && n-- == 0)
				return p;
	return NULL;
}

/* -- what a program is -- */
static bool
is_go(int fd)
{
	struct elf_sections s;
	bool go;

	if (!elf_sections_read(fd, &s))
		return false;
	go = elf_is_go(&s);
	elf_sections_free(&s);
	return go;
}

static bool
is_python(const char *path, const char *head)
{
	const char *dot = strrchr(path, '.');

	if (dot != NULL && strcmp(dot, ".py") == 0)
		return true;
	return strncmp(head, "#!", 2) == 0 && strstr(head, "python") != NULL;
}

int
profile_language(const char *path, enum language *lang, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char head[128] = "";
	struct stat st;
	ssize_t n;
	int rc = 0;

	if (fd == -1) {
		*why = NULL;	/* errno says it */
		return -1;
	}
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ?
	    pread(fd, head, sizeof(head) - 1, 0) : -1;
	head[strcspn(head, "\n")] = '\0';
	if (n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
		*lang = is_go(fd) ? LANG_GO : LANG_NATIVE;
	} else if (n >= 0 && is_python(path, head)) {
		*lang = LANG_PYTHON;
	} else {
		*why = n < 0 ? "it is not a file that can be read" :
		    "it is neither an ELF program nor a Python script";
		rc = -1;
	}
	close(fd);
	return rc;
}

/* -- where an adapter is -- */
static bool
runs(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(file, X_OK) == 0;
}

/* A path for glob(), to which it is what it is, whatever is in it. */
static void
quote(const char *path, size_t len, char out[QUOTED + 1])
{
	size_t n = 0;

	for (; len > 0 && n + 2 <= QUOTED; len--, path++) {
		if (strchr("*?[]{},\\", *path) != NULL)
			out[n++] = '\\';
		out[n++] = *path;
	}
	out[n] = '\0';
}

static bool
below_prefix(const char *file, const char *witness)
{
	char dir[QUOTED + 1], pattern[sizeof(dir) + 128];
	glob_t g;
	const char *slash = strrchr(file, '/');
	bool there;

	if (slash == NULL)
		return false;
	quote(file, (size_t)(slash - file), dir);
	(void)snprintf(pattern, sizeof(pattern), "%s/../%s", dir, witness);
	there = glob(pattern, GLOB_BRACE, NULL, &g) == 0;
	globfree(&g);
	return there;
}

/*
 * Whether a Python uses what is installed beside the one that it is a link to:
 * in a virtual environment only if pyvenv.cfg says so.
 */
static bool
uses_base(const char *file)
{
	static const char key[] = "include-system-site-packages";
	char path[PATH_MAX], text[4096] = "";
	const char *slash = strrchr(file, '/'), *p;
	int fd;

	if (slash == NULL || snprintf(path, sizeof(path), "%.*s/../pyvenv.cfg",
	    (int)(slash - file), file) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd == -1)
		return errno == ENOENT;
	if (pread(fd, text, sizeof(text) - 1, 0) == -1)
		text[0] = '\0';
	close(fd);
	for (p = text; strncmp(p, key, sizeof(key) - 1) != 0; p++)
		if ((p = strchr(p, '\n')) == NULL)
			return false;
	p += strcspn(p, "=\n");
	p += strspn(p, "= \t");
	return strncasecmp(p, "true", 4) == 0;
}

/* Its own directory counts first, then that of the file that it is a link to. */
static bool
is_adapter(const struct profile *p, const char *file)
{
	char *real;
	bool good;

	if (!runs(file))
		return false;
	if (p->witness == NULL || below_prefix(file, p->witness))
		return true;
	if (!uses_base(file) || (real = realpath(file, NULL)) == NULL)
		return false;
	good = below_prefix(real, p->witness);
	free(real);
	return good;
}

/* The best of what matches, by version; longest name first where equal. */
static bool
best_match(const struct profile *p, const char *pattern, char *path,
    size_t size)
{
	size_t i;
	glob_t g;
	bool any = false;

	if (glob(pattern, 0, NULL, &g) == 0)
		for (i = 0; i < g.gl_pathc; i++)
			if (is_adapter(p, g.gl_pathv[i]) && (!any ||
			    strverscmp(g.gl_pathv[i], path) > 0)) {
				(void)snprintf(path, size, "%s", g.gl_pathv[i]);
				any = true;
			}
	globfree(&g);
	return any;
}

static bool
in_path(const struct profile *p, const char *dirs, bool versioned, char *path,
    size_t size)
{
	char dir[QUOTED + 1], pattern[sizeof(dir) + 64];
	size_t len;

	for (; *dirs != '\0'; dirs += len + (dirs[len] == ':')) {
		len = strcspn(dirs, ":");
		if (len == 0 || dirs[0] != '/' || len > 4000)
			continue;
		quote(dirs, len, dir);
		(void)snprintf(pattern, sizeof(pattern), "%s/%s%s", dir,
		    p->binary, versioned ? "-[0-9]*" : "");
		if (best_match(p, pattern, path, size))
			return true;
	}
	return false;
}

bool
profile_locate(const struct profile *p, const char *dirs, const char *home,
    struct adapter_found *found)
{
	char own[QUOTED + 1], pattern[sizeof(own) + 128];
	const char *const *e;

	found->profile = p;
	/* by its own name it is what the user put there on purpose */
	if (in_path(p, dirs, false, found->path, sizeof(found->path)))
		return true;
	if ((p->quirks & Q_NEEDS_INTERPRETER) == 0 &&
	    in_path(p, dirs, true, found->path, sizeof(found->path)))
		return true;
	quote(home, strlen(home), own);
	for (e = p->elsewhere; e != NULL && *e != NULL; e++) {
		(void)snprintf(pattern, sizeof(pattern), "%s%s",
		    **e == '~' ? own : "", *e + (**e == '~'));
		if (best_match(p, pattern, found->path, sizeof(found->path)))
			return true;
	}
	return false;
}

/* -- what it is told -- */
static struct json_object *
env_map(struct json_object *list)
{
	struct json_object *map = jobject();
	size_t i, n = list == NULL ? 0 : json_object_array_length(list);
	const char *pair, *eq;
	char *name;

	for (i = 0; i < n; i++) {
		pair = json_object_get_string(json_object_array_get_idx(list, i));
		if (pair == NULL || (eq = strchr(pair, '=')) == NULL)
			continue;
		name = copy_part(pair, (size_t)(eq - pair));
		jput(map, name, jtext(eq + 1));
		free(name);
	}
	return map;
}

/*
 * Harmless signals must not stop a program: Go's runtime sends itself SIGURG
 * all the time, and SIGWINCH only reports that the terminal's size has changed.
 * lldb ignores neither; the other adapters pass both on.
 */
static struct json_object *
init_commands(void)
{
	static const char *const commands[] = {
		"process handle --pass true --stop false --notify false "
		    "SIGURG SIGWINCH",
		/* lldb writes these as bytes; -p -r: not their pointers */
		"type format add -p -r -f decimal wchar_t char8_t char16_t "
		    "char32_t int8_t",
		"type format add -p -r -f unsigned uint8_t",
	};
	struct json_object *list = jarray();
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		jadd(list, jtext(commands[i]));
	return list;
}

/* The files of the program, which the adapter holds; and its signals. */
static struct json_object *
start_commands(pid_t adapter)
{
	static const char *const names[] = { "input", "output", "error" };
	struct json_object *list = init_commands();
	char line[96];
	int i;

	for (i = 0; i < 3; i++) {
		(void)snprintf(line, sizeof(line),
		    "settings set target.%s-path /proc/%d/fd/%d", names[i],
		    (int)adapter, 3 + i);
		jadd(list, jtext(line));
	}
	return list;
}

/* An argument of a command of lldb. */
static void
put_quoted(char **p, const char *text)
{
	*(*p)++ = '"';
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\' || *text == '`')
			*(*p)++ = '\\';
		*(*p)++ = *text;
	}
	*(*p)++ = '"';
}

/*
 * Where the process executes another file than the one that has the symbols,
 * lldb would take that file instead: it is told that they are the same.
 */
static struct json_object *
attach_commands(const struct launch_facts *f)
{
	char line[4 * PATH_MAX + 64], *p;
	struct json_object *list;

	if (*f->program == '\0' || *f->file == '\0' ||
	    strcmp(f->program, f->file) == 0 ||
	    strlen(f->program) + strlen(f->file) >= 2 * PATH_MAX)
		return NULL;
	list = jarray();
	p = stpcpy(line, "target create --remote-file ");
	put_quoted(&p, f->file);
	*p++ = ' ';
	put_quoted(&p, f->program);
	*p = '\0';
	jadd(list, jtext(line));
	(void)snprintf(line, sizeof(line), "process attach --pid %d",
	    (int)f->pid);
	jadd(list, jtext(line));
	return list;
}

static struct json_object *
stdio_paths(pid_t adapter)
{
	struct json_object *list = jarray();
	char path[64];
	int fd;

	for (fd = 3; fd <= 5; fd++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d",
		    (int)adapter, fd);
		jadd(list, jtext(path));
	}
	return list;
}

static struct json_object *
profile_text_or_null(const char *s)
{
	return s == NULL || *s == '\0' ? NULL : jtext(s);
}

/* NULL = the member is left out. */
static struct json_object *
value_of(const struct member *m, const struct launch_facts *f)
{
	switch (m->from) {
	case FROM_TEXT:
		return jtext(m->text);
	case FROM_JSON:
		return json_tokener_parse(m->text);
	case FROM_TRUE:
	case FROM_FALSE:
		return jbool(m->from == FROM_TRUE);
	case FROM_PROGRAM:
		return profile_text_or_null(f->program);
	case FROM_ADAPTER:
		return profile_text_or_null(f->adapter_path);
	case FROM_CWD:
		return profile_text_or_null(f->cwd);
	case FROM_ARGS:
		return f->args == NULL ? jarray() :
		    json_object_get(f->args);
	case FROM_ENV_LIST:
		return json_object_get(f->env);
	case FROM_ENV_MAP:
		/* none is the adapter's own, which is not an empty one */
		return f->env == NULL ? NULL : env_map(f->env);
	case FROM_STOP_ON_ENTRY:
		return jbool(f->stop_on_entry);
	case FROM_PID:
		return jint(f->pid);
	case FROM_START_COMMANDS:
		return start_commands(f->adapter_pid);
	case FROM_SIGNAL_COMMANDS:
		return init_commands();
	case FROM_ATTACH_COMMANDS:
		return attach_commands(f);
	case FROM_STDIO_PATHS:
		return stdio_paths(f->adapter_pid);
	case FROM_END:
		break;
	}
	return NULL;
}

struct json_object *
profile_arguments(const struct member *m, const struct launch_facts *f)
{
	struct json_object *args = jobject(), *v;

	for (; m->name != NULL; m++)
		if ((v = value_of(m, f)) != NULL)
			jput(args, m->name, v);
	return args;
}
