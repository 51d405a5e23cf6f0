/* SPDX-License-Identifier: ISC */
/* From a command line to a tracer's request. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elfhdr.h"
#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/environment.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "switches.h"
#include "trc_build.h"

#define BUDGET_MOST	1000000000

/* A daemon elsewhere has files of its own. */
static bool
is_here(struct client *c)
{
	return (c->target.kind == TARGET_DEFAULT ||
	    c->target.kind == TARGET_UNIX);
}

/* -- probes ---------------------------------------------------------------- */

static int
add_list(struct json_object *args, const char *key,
    const struct opt_list *list)
{
	struct json_object *array;
	size_t i;

	if (list->n == 0)
		return 0;
	array = json_object_new_array();
	json_object_object_add(args, key, array);
	for (i = 0; i < list->n; i++) {
		if (args_check(list->value[i]) == -1)
			return -1;
		json_object_array_add(array,
		    json_object_new_string(list->value[i]));
	}
	return 0;
}

/* Where sources of the user's own are: --project, or this directory. */
static int
add_project(struct client *c, struct json_object *args)
{
	char *path = env_directory(c->opts.value[OPT_PROJECT], is_here(c));
	int r = path == NULL ? -1 : args_text(args, "projectRoot", path);

	free(path);
	return r;
}

int
trc_build_probes(struct client *c, struct json_object *args, char **patterns)
{
	long long budget = 0;

	if (*patterns != NULL && args_list(args, "add", patterns) == -1)
		return -1;
	if (add_list(args, "addresses", &c->opts.list[LIST_ADDRESS]) == -1)
		return -1;
	if (opt_given(&c->opts, OPT_BUDGET)) {
		if (opt_number(&c->opts, OPT_BUDGET, 0, BUDGET_MOST,
		    &budget) == -1)
			return -1;
		args_number(args, "budget", budget);
	}
	if (opt_given(&c->opts, OPT_RAW))
		args_true(args, "rawRegisters");
	return add_project(c, args);
}

/* -- launch ---------------------------------------------------------------- */

static void
add_variable(void *arg, const char *variable)
{
	size_t len = strcspn(variable, "=");
	char *key = strndup(variable, len);

	if (key != NULL && len > 0 && variable[len] == '=')
		json_object_object_add(arg, key,
		    json_object_new_string(variable + len + 1));
	free(key);
}

/* Adds the environment of a shell here; --env comes last and overrides it. */
static int
add_environment(struct client *c, struct json_object *args)
{
	const struct opt_list *own = &c->opts.list[LIST_ENV];
	struct json_object *env = json_object_new_object();
	size_t i;

	json_object_object_add(args, "env", env);
	env_variables_warned(add_variable, env);
	for (i = 0; i < own->n; i++) {
		if (strchr(own->value[i], '=') == NULL ||
		    *own->value[i] == '=') {
			report("\"%s\": give KEY=VALUE", own->value[i]);
			return -1;
		}
		if (args_check(own->value[i]) == -1)
			return -1;
		add_variable(env, own->value[i]);
	}
	return 0;
}

static int
add_path(struct json_object *args, const char *key, char *path)
{
	int r = path == NULL ? -1 : args_text(args, key, path);

	free(path);
	return r;
}

/* Adds the patterns of --pattern as a list of words. */
static int
add_trace(struct client *c, struct json_object *args)
{
	const struct opt_list *list = &c->opts.list[LIST_PATTERN];
	struct json_object *trace = json_object_new_object();
	char **patterns = calloc(list->n + 1, sizeof(*patterns));
	int r = -1;

	json_object_object_add(args, "trace", trace);
	if (patterns == NULL)
		report("out of memory");
	else {
		if (list->n > 0)
			memcpy(patterns, list->value, list->n *
			    sizeof(*patterns));
		r = trc_build_probes(c, trace, patterns);
	}
	free(patterns);
	return r;
}

int
trc_build_launch(struct client *c, struct json_object *args, char **argv)
{
	bool here = is_here(c);

	if (add_path(args, "command", env_program(argv[0], here)) == -1 ||
	    args_list(args, "args", argv + 1) == -1 ||
	    add_path(args, "cwd", env_directory(c->opts.value[OPT_CWD],
	    here)) == -1 ||
	    add_project(c, args) == -1 || add_environment(c, args) == -1)
		return -1;
	if (opt_given(&c->opts, OPT_FOLLOW_FORKS))
		args_true(args, "followForks");
	return add_trace(c, args);
}

void
trc_tell_program(struct client *c, const char *path)
{
	char head[2], why[160], *text;
	int file_fd;

	if (!is_here(c) || c->json_errors)
		return;
	if ((file_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return;
	if ((pread(file_fd, head, 2, 0) != 2 || memcmp(head, "#!", 2) != 0) &&
	    elf_check_fd(file_fd, ELF_32BIT_WRONG, why, sizeof(why)) == -1 &&
	    asprintf(&text, "%s: %s", path, why) != -1) {
		report_more(text);
		free(text);
	}
	close(file_fd);
}

/* -- queries --------------------------------------------------------------- */

/* Types as people write them, and as events have them. */
static int
add_type(struct client *c, struct json_object *query)
{
	static const char *const types[][2] = {
		{ "enter", "function_enter" }, { "exit", "function_exit" },
		{ "stdout", "stdout" }, { "stderr", "stderr" },
		{ "crash", "crash" },
	};
	const char *given = c->opts.value[OPT_TYPE];
	size_t i;

	if (given == NULL)
		return 0;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(given, types[i][0]) == 0 ||
		    strcmp(given, types[i][1]) == 0)
			return args_text(query, "eventType", types[i][1]);
	report("--type %s: give enter, exit, stdout, stderr or crash", given);
	return -1;
}

static int
add_function(struct client *c, struct json_object *query)
{
	static const struct {
		enum opt	 opt;
		const char	*key;
	} ways[] = {
		{ OPT_FUNCTION, "equals" }, { OPT_CONTAINS, "contains" },
		{ OPT_MATCHES, "matches" },
	};
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (args_text(o, ways[i].key, c->opts.value[ways[i].opt]) ==
		    -1) {
			json_object_put(o);
			return -1;
		}
	if (json_object_object_length(o) > 0)
		json_object_object_add(query, "function", o);
	else
		json_object_put(o);
	return 0;
}

/* False when it is no JSON, or has something behind it. */
static bool
parse_value(const char *text, struct json_object **vp)
{
	struct json_tokener *tok = json_tokener_new();
	bool good;

	if (tok == NULL)
		return false;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	/* with its NUL, which ends a number */
	*vp = json_tokener_parse_ex(tok, text, (int)strlen(text) + 1);
	good = json_tokener_get_error(tok) == json_tokener_success;
	json_tokener_free(tok);
	return good;
}

/* JSON as it is, other words as strings; null is what isNull asks for. */
static int
add_returns(struct client *c, struct json_object *query)
{
	const char *given = c->opts.value[OPT_RETURNS];
	struct json_object *o, *v;

	if (given == NULL)
		return 0;
	if (args_check(given) == -1)
		return -1;
	o = json_object_new_object();
	json_object_object_add(query, "returnValue", o);
	if (!parse_value(given, &v))
		v = json_object_new_string(given);
	if (v == NULL)
		args_true(o, "isNull");
	else
		json_object_object_add(o, "equals", v);
	return 0;
}

int
trc_build_query(struct client *c, struct json_object *query)
{
	long long thread = 0;

	if (add_type(c, query) == -1 || add_function(c, query) == -1 ||
	    add_returns(c, query) == -1)
		return -1;
	if (!opt_given(&c->opts, OPT_THREAD))
		return 0;
	if (opt_number(&c->opts, OPT_THREAD, 1, INT_MAX, &thread) == -1)
		return -1;
	args_number(query, "threadId", thread);
	return 0;
}
