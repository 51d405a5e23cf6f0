/* SPDX-License-Identifier: ISC */
/* From a command's words to its request. Paths are those of here: what is
 * relative is made absolute where it is known what is meant. */
#include <bsd/stdlib.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "client/lib/args.h"
#include "client/lib/environment.h"
#include "client/lib/report.h"
#include "dbg.h"

/* Between a place and its condition, as gdb has it. */
#define IF	" if "

char *
words_join(int argc, char **argv)
{
	size_t len = 1;
	char *text;
	int i;

	for (i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	if ((text = malloc(len)) == NULL)
		err(CTL_USAGE, NULL);
	*text = '\0';
	for (i = 0; i < argc; i++) {
		strcat(text, i > 0 ? " " : "");
		strcat(text, argv[i]);
	}
	return text;
}

/* -- places ---------------------------------------------------------------- */

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* Lines count from 1: 0 is a mistake, not the beginning of a file. */
static int
add_line(struct json_object *args, const char *text)
{
	const char *bad = NULL;
	long long line = strtonum(text, 1, INT_MAX, &bad);

	if (bad != NULL) {
		report("line %s: %s; give 1 to %d", text, bad, INT_MAX);
		return -1;
	}
	args_number(args, "line", line);
	return 0;
}

/* A file that is not here may be known to the program by that name. */
static int
add_file(struct json_object *args, char *file)
{
	char *path = path_absolute(file);
	bool here = access(path, F_OK) == 0;
	int r = args_text(args, "file", here ? path : file);

	free(path);
	return r;
}

/* "main.c" is a file and no part of a function's name. */
static bool
is_source(const char *name, size_t len)
{
	static const char *const suffixes[] = { ".c", ".cc", ".cpp", ".cxx",
		".go", ".h", ".hh", ".hpp", ".hxx", ".py", ".rs", ".s", ".S" };
	size_t i, n;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		n = strlen(suffixes[i]);
		if (len > n && memcmp(name + len - n, suffixes[i], n) == 0)
			return true;
	}
	return false;
}

/* text is cut into its parts. */
static int
add_place(struct json_object *args, char *text)
{
	char *colon = strrchr(text, ':');

	if (is_number(text))
		return add_line(args, text);
	/* "ns::f" has colons and is a function all the same */
	if (colon == NULL || colon == text || !is_number(colon + 1)) {
		if (colon != NULL && colon[1] == '\0') {
			report("\"%s\" has no line behind its colon: give "
			    "FILE:LINE or FUNCTION", text);
			return -1;
		}
		if (colon != NULL && is_source(text, (size_t)(colon - text))) {
			report("\"%s\": \"%s\" is no line: give FILE:LINE, or "
			    "FUNCTION without a file", text, colon + 1);
			return -1;
		}
		return args_text(args, "function", text);
	}
	*colon = '\0';
	if (add_line(args, colon + 1) == -1)
		return -1;
	return add_file(args, text);
}

int
place_add(struct json_object *args, const char *text)
{
	char *copy = strdup(text), *condition;
	int r = 0;

	if (copy == NULL)
		err(CTL_USAGE, NULL);
	if ((condition = strstr(copy, IF)) != NULL) {
		*condition = '\0';
		r = args_text(args, "condition", condition + strlen(IF));
	}
	if (*copy == '\0') {
		report("an empty place: give FILE:LINE or FUNCTION");
		r = -1;
	}
	if (r == 0)
		r = add_place(args, copy);
	free(copy);
	return r;
}

/* Where relative paths begin, for those that are not here. */
static int
add_cwd(struct json_object *args)
{
	char *cwd = path_absolute("");
	int r = args_text(args, "cwd", cwd);

	free(cwd);
	return r;
}

int
build_place(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	bool function = opt_given(&d->client.opts, DOPT_FUNCTION);
	char *text;
	int r = 0;

	if (function == (argc > 0)) {
		report(function ? "give a place or --function, not both" :
		    "where? give FILE:LINE, FUNCTION or --function NAME");
		return -1;
	}
	/* "break main.c:3 if x > 1" needs no quotes */
	text = words_join(argc, argv);
	if (!function)
		r = place_add(args, text);
	free(text);
	return r == 0 ? add_cwd(args) : -1;
}

/* Without a place it is where the program stands. */
int
build_source(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	(void)d;
	if (argc > 0 && place_add(args, argv[0]) == -1)
		return -1;
	return add_cwd(args);
}

/* -- numbers and names ----------------------------------------------------- */

/* With a sign: adapters have threads below 0. */
static int
add_integer(struct json_object *args, const char *key, const char *text)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (*text == '\0' || *end != '\0' || errno != 0) {
		report("\"%s\" is no number%s", text, errno == ERANGE ?
		    " that anything has" : "");
		return -1;
	}
	args_number(args, key, n);
	return 0;
}

/* Takes one id or --all: a forgotten id never means all. */
int
build_id(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	bool every = opt_given(&d->client.opts, DOPT_EVERY);

	/* "all" for "--all": people type what they mean */
	if (argc > 0 && strcmp(argv[0], "all") == 0) {
		every = true;
		argc = 0;
	}
	if (every == (argc > 0)) {
		report(every ? "give an id or --all, not both" :
		    "which one? give its id, or --all");
		return -1;
	}
	if (every) {
		args_true(args, "all");
		return 0;
	}
	return add_integer(args, "id", argv[0]);
}

int
build_index_arg(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	(void)d;
	return argc > 0 ? add_integer(args, "index", argv[0]) : 0;
}

int
build_thread(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	(void)d;
	return argc > 0 ? add_integer(args, "id", argv[0]) : 0;
}

int
build_step(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	if (opt_given(&d->client.opts, DOPT_INSTRUCTION) &&
	    args_text(args, "granularity", "instruction") == -1)
		return -1;
	/* "next 5", as other debuggers have it */
	return argc > 0 ? add_integer(args, "count", argv[0]) : 0;
}

/* -- expressions ----------------------------------------------------------- */

/* All words as one, so that blanks need no quotes. */
static int
add_words(struct json_object *args, const char *key, int argc, char **argv)
{
	char *text = words_join(argc, argv);
	int r = args_text(args, key, text);

	free(text);
	return r;
}

int
build_expression(struct dbg *d, struct json_object *args, int argc,
    char **argv)
{
	(void)d;
	return add_words(args, "expression", argc, argv);
}

/* --access says more than --read, and is what counts of the two. */
int
build_watch(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	const char *access = "write";

	if (opt_given(&d->client.opts, DOPT_ACCESS))
		access = "access";
	else if (opt_given(&d->client.opts, DOPT_READ))
		access = "read";
	if (args_text(args, "access", access) == -1)
		return -1;
	return add_words(args, "expression", argc, argv);
}

int
build_catch(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	(void)d;
	if (strcmp(argv[0], "panic") != 0 && strcmp(argv[0], "throw") != 0) {
		report("\"%s\" cannot be caught: give panic, or throw and "
		    "perhaps a type", argv[0]);
		return -1;
	}
	if (args_text(args, "kind", argv[0]) == -1)
		return -1;
	return argc > 1 ? add_words(args, "type", argc - 1, argv + 1) : 0;
}

int
build_set(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	int at = 1;

	(void)d;
	/* "set x = 3", as other debuggers have it */
	if (argc > 2 && strcmp(argv[1], "=") == 0)
		at = 2;
	if (args_text(args, "target", argv[0]) == -1)
		return -1;
	return add_words(args, "value", argc - at, argv + at);
}

/* -- machine --------------------------------------------------------------- */

int
build_memory(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	(void)d;
	if (argc > 0 && args_text(args, "address", argv[0]) == -1)
		return -1;
	return argc > 1 ? args_text(args, "hex", argv[1]) : 0;
}

int
build_registers(struct dbg *d, struct json_object *args, int argc,
    char **argv)
{
	(void)d;
	return argc > 0 ? args_list(args, "names", argv) : 0;
}

int
build_raw(struct dbg *d, struct json_object *args, int argc, char **argv)
{
	(void)d;
	return add_words(args, "command", argc, argv);
}
