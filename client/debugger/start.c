/* SPDX-License-Identifier: ISC */
/* How a debug session begins: the program, its directory and its environment
 * are those that a shell here would give it. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "build.h"
#include "client/lib/args.h"
#include "client/lib/environment.h"
#include "client/lib/report.h"
#include "dbg.h"
#include "request.h"
#include "start.h"

/* -- environment ----------------------------------------------------------- */

static void
add_variable(void *list, const char *variable)
{
	json_object_array_add(list, json_object_new_string(variable));
}

/*
 * A sandbox would give a program a clean one, which is not what anybody sees
 * who runs it by hand.  --env comes last, so that it wins.
 */
static int
add_environment(struct dbg *d, struct json_object *args)
{
	const struct opt_list *own = &d->client.opts.list[DLIST_ENV];
	struct json_object *list = json_object_new_array();
	size_t i;

	json_object_object_add(args, "env", list);
	env_variables_warned(add_variable, list);
	for (i = 0; i < own->n; i++) {
		if (strchr(own->value[i], '=') == NULL ||
		    *own->value[i] == '=') {
			report("\"%s\": give KEY=VALUE", own->value[i]);
			return -1;
		}
		if (args_check(own->value[i]) == -1)
			return -1;
		json_object_array_add(list,
		    json_object_new_string(own->value[i]));
	}
	return 0;
}

/* -- program and directory ------------------------------------------------- */

/* A daemon elsewhere has files of its own. */
static bool
is_here(const struct dbg *d)
{
	return d->client.target.kind == TARGET_UNIX;
}

/* An absolute path, since the daemon is elsewhere in any case. */
static int
add_program(struct dbg *d, struct json_object *args, const char *key,
    const char *name)
{
	char *path = env_program(name, is_here(d));
	int r = path == NULL ? -1 : args_text(args, key, path);

	free(path);
	return r;
}

/* --cwd, else this one: also where relative names of sources begin. */
static int
add_directory(struct dbg *d, struct json_object *args)
{
	char *path = env_directory(d->client.opts.value[DOPT_CWD],
	    is_here(d));
	int r = path == NULL ? -1 : args_text(args, "cwd", path);

	free(path);
	return r;
}

/* With the program, so that one that is wrong starts nothing. */
static int
add_breaks(struct dbg *d, struct json_object *args)
{
	const struct opt_list *places = &d->client.opts.list[DLIST_BREAK];
	struct json_object *list, *place;
	size_t i;

	if (places->n == 0)
		return 0;
	list = json_object_new_array();
	json_object_object_add(args, "breaks", list);
	for (i = 0; i < places->n; i++) {
		place = json_object_new_object();
		json_object_array_add(list, place);
		if (place_add(place, places->value[i]) == -1)
			return -1;
	}
	return 0;
}

/* -- requests -------------------------------------------------------------- */

/* Sends what makes a session; takes args. */
static int
begin(struct dbg *d, const char *request, struct json_object *args)
{
	static const struct {
		unsigned int	 opt;
		const char	*key;
	} words[] = {
		{ DOPT_SESSION, "name" }, { DOPT_IMAGE, "image" },
		{ DOPT_SANDBOX, "sandbox" }, { DOPT_NETWORK, "network" },
	};
	struct json_object *outer = dbg_request(request, args), *result;
	size_t i;
	int code;

	args_true(outer, "start");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (args_text(outer, words[i].key, opt_value(&d->client.opts,
		    words[i].opt)) == -1) {
			json_object_put(outer);
			return CTL_USAGE;
		}
	}
	d->may_start = true;
	code = dbg_ask_daemon(d, outer, &result);
	return code == CTL_OK ? dbg_print(d, result) : code;
}

int
dbg_start(struct dbg *d, int argc, char **argv)
{
	bool image = opt_given(&d->client.opts, DOPT_IMAGE);
	struct json_object *args = json_object_new_object();
	int r = 0;

	if (!image && argc == 0) {
		json_object_put(args);
		return usage_error("missing program; give one, or an uploaded "
		    "session with --image");
	}
	if (!image)
		r = add_program(d, args, "program", argv[0]);
	if (r == 0)
		r = args_list(args, "args", argv + (image ? 0 : 1));
	if (r == 0)
		r = add_directory(d, args);
	if (r == 0)
		r = add_environment(d, args);
	if (r == 0)
		r = add_breaks(d, args);
	if (r == 0)
		r = dbg_request_options(d, args);
	if (r == 0)
		return begin(d, "start", args);
	json_object_put(args);
	return CTL_USAGE;
}

/* Digits are a process of one's own, all else is a session of the daemon's. */
static int
add_target(struct dbg *d, struct json_object *args, char *target)
{
	long long n = strtoll(target, NULL, 10);

	if (target[strspn(target, "0123456789")] != '\0') {
		d->client.opts.value[DOPT_IMAGE] = target;
		return 0;
	}
	args_number(args, "pid", n);
	if (n >= 1 && n <= INT32_MAX)
		return 0;
	report("%s is no process id", target);
	return -1;
}

int
dbg_attach(struct dbg *d, int argc, char **argv)
{
	struct json_object *args = json_object_new_object();
	const char *program = d->client.opts.value[DOPT_PROGRAM];
	int r = dbg_request_options(d, args);

	(void)argc;
	if (r == 0)
		r = add_target(d, args, argv[0]);
	if (r == 0 && program != NULL)
		r = add_program(d, args, "program", program);
	if (r == 0)
		r = add_directory(d, args);
	if (r == 0)
		return begin(d, "attach", args);
	json_object_put(args);
	return CTL_USAGE;
}
