/* SPDX-License-Identifier: ISC */
/* trace: which functions of a program are watched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "commands.h"
#include "timeline.h"
#include "trace.h"
#include "trc_ask.h"
#include "trc_build.h"
#include "trc_show.h"
#include "wire/label.h"
#include "wire/proto.h"

#define PAGE		500	/* functions asked for at once */
#define FUNCTIONS_MOST	1000000

/* Asks a session, without what is given behind request, and prints it. */
static int
ask_show(struct client *c, const struct trc_to *to, const char *request,
    struct json_object *args, void (*print)(struct json_object *, FILE *))
{
	struct json_object *result;
	int code = trc_ask(c, to, request, args, &result);

	return code == CTL_OK ? client_show(c, result, print) : code;
}

int
ctl_trace_list(struct client *c, int argc, char **argv)
{
	struct json_object *list;
	int code;

	(void)argc;
	(void)argv;
	code = trc_sessions(c, &list);
	return code == CTL_OK ? client_show(c, list, trc_show_sessions) :
	    code;
}

int
ctl_trace_status(struct client *c, int argc, char **argv)
{
	struct trc_to to = { .session = argv[0] };

	(void)argc;
	return ask_show(c, &to, "status", json_object_new_object(),
	    trc_show_status);
}

/* Whether an option says what is to be watched, or how. */
static bool
says_what(const struct client *c)
{
	return opt_given(&c->opts, OPT_ADDRESS) ||
	    opt_given(&c->opts, OPT_BUDGET) || opt_given(&c->opts, OPT_RAW) ||
	    opt_given(&c->opts, OPT_PROJECT) ||
	    opt_given(&c->opts, OPT_FOLLOW_FORKS);
}

/* Whether children are traced is said when a program is attached to. */
static int
attach_following(struct client *c, const struct trc_to *to,
    struct json_object *probes)
{
	struct json_object *args = json_object_new_object(), *root;
	struct json_object *result = NULL;
	int code;

	args_true(args, "followForks");
	if (json_object_object_get_ex(probes, "projectRoot", &root))
		json_object_object_add(args, "projectRoot",
		    json_object_get(root));
	code = trc_ask(c, to, "attach", args, &result);
	if (code == CTL_OK)
		json_object_put(result);
	return code;
}

int
ctl_trace(struct client *c, int argc, char **argv)
{
	struct trc_to to = { .start = true };
	struct json_object *args;
	int code;

	if (argc == 0 && says_what(c))
		return usage_error("missing session; give one, and a pattern "
		    "or --address. \"" CTL_NAME " trace run\" starts a "
		    "command");
	if (argc == 0)
		return ctl_trace_list(c, argc, argv);
	if (argc == 1 && !says_what(c))
		return ctl_trace_status(c, argc, argv);
	to.session = argv[0];
	args = json_object_new_object();
	if (trc_build_probes(c, args, argv + 1) == -1) {
		json_object_put(args);
		return CTL_USAGE;
	}
	if (opt_given(&c->opts, OPT_FOLLOW_FORKS) &&
	    (code = attach_following(c, &to, args)) != CTL_OK) {
		json_object_put(args);
		return code;
	}
	return ask_show(c, &to, "trace", args, trc_show_trace);
}

int
ctl_trace_remove(struct client *c, int argc, char **argv)
{
	struct trc_to to = { .session = argv[0] };
	struct json_object *args = json_object_new_object();

	(void)argc;
	if (args_list(args, "remove", argv + 1) == -1) {
		json_object_put(args);
		return CTL_USAGE;
	}
	return ask_show(c, &to, "trace", args, trc_show_trace);
}

int
ctl_trace_stop(struct client *c, int argc, char **argv)
{
	struct trc_to to = { .session = argv[0] };
	struct json_object *args = json_object_new_object();

	(void)argc;
	if (opt_given(&c->opts, OPT_KEEP))
		args_true(args, "keep");
	return ask_show(c, &to, "stop", args, trc_show_stop);
}

/* -- functions ------------------------------------------------------------- */

/* Moves a page's functions to all; how many they were, -1 after a report. */
static int
take_page(struct json_object *page, struct json_object *all)
{
	struct json_object *list;
	size_t i, n;

	if (!json_object_object_get_ex(page, "functions", &list) ||
	    !json_object_is_type(list, json_type_array)) {
		report("the answer has no functions in it");
		return -1;
	}
	n = json_object_array_length(list);
	for (i = 0; i < n; i++)
		json_object_array_add(all, json_object_get(
		    json_object_array_get_idx(list, i)));
	return (int)n;
}

/* Asks for one page; as trc_ask(). */
static int
ask_page(struct client *c, char **argv, long long limit, size_t offset,
    struct json_object **pagep)
{
	struct trc_to to = { .session = argv[0] };
	struct json_object *args = json_object_new_object();

	if (args_text(args, "pattern", argv[1]) == -1) {
		json_object_put(args);
		return CTL_USAGE;
	}
	args_number(args, "limit", limit);
	args_number(args, "offset", (long long)offset);
	return trc_ask(c, &to, "functions", args, pagep);
}

/* Asks page by page; the last one is *pagep, with all functions in it. */
static int
all_functions(struct client *c, char **argv, long long most,
    struct json_object **pagep)
{
	struct json_object *all = json_object_new_array();
	long long left = most;
	bool more = true;
	int code = CTL_OK, n;

	*pagep = NULL;
	while (more && code == CTL_OK) {
		json_object_put(*pagep);
		code = ask_page(c, argv, left < PAGE ? left : PAGE,
		    json_object_array_length(all), pagep);
		if (code != CTL_OK)
			break;
		if ((n = take_page(*pagep, all)) == -1)
			code = CTL_UNREACHABLE;
		left -= n;
		more = n > 0 && left > 0 && reply_true(*pagep, "hasMore");
	}
	if (code == CTL_OK)
		json_object_object_add(*pagep, "functions", all);
	else {
		json_object_put(all);
		json_object_put(*pagep);
	}
	return code;
}

int
ctl_trace_functions(struct client *c, int argc, char **argv)
{
	long long most = FUNCTIONS_MOST;
	struct json_object *result;
	int code;

	(void)argc;
	if (opt_given(&c->opts, OPT_LIMIT) && opt_number(&c->opts, OPT_LIMIT,
	    1, FUNCTIONS_MOST, &most) == -1)
		return CTL_USAGE;
	code = all_functions(c, argv, most, &result);
	return code == CTL_OK ? client_show(c, result, trc_show_functions) :
	    code;
}

/* -- run ------------------------------------------------------------------- */

static void
print_launched(struct json_object *o, FILE *out)
{
	char *id = safe_string(reply_str(o, "sessionId", "?"));
	int64_t pid = 0;

	reply_int(o, "pid", &pid);
	fprintf(out, "%s  pid %lld\n", id, (long long)pid);
	free(id);
	/* what a pattern has become is said as after "trace ID PATTERN" */
	json_object_object_del(o, "sessionId");
	json_object_object_del(o, "pid");
	trc_show_trace(o, out);
}

static int
show_launched(struct client *c, struct json_object *result)
{
	char *id;

	if (!opt_given(&c->opts, OPT_QUIET))
		return client_show(c, json_object_get(result),
		    print_launched);
	id = safe_string(reply_str(result, "sessionId", ""));
	puts(id);
	free(id);
	return report_flush();
}

/* Prints what it does, to its end. */
static int
follow(struct client *c, struct json_object *result)
{
	const char *id = reply_str(result, "sessionId", NULL);

	if (id != NULL)
		return timeline_follow(c, id);
	report("the answer has no session in it");
	return CTL_UNREACHABLE;
}

/*
 * Adds the functions that are watched, if the user asked for any; the program
 * may have ended already.
 */
static void
add_watched(struct client *c, struct json_object *launched)
{
	struct trc_to to = { .session = reply_str(launched, "sessionId",
	    "") };
	struct json_object *result;

	if (c->opts.list[LIST_PATTERN].n + c->opts.list[LIST_ADDRESS].n == 0)
		return;
	if (trc_try(c, &to, "trace", json_object_new_object(), &result) ==
	    CTL_OK) {
		json_object_object_foreach(result, key, value)
			json_object_object_add(launched, key,
			    json_object_get(value));
	}
	json_object_put(result);
}

int
ctl_trace_run(struct client *c, int argc, char **argv)
{
	char name[LABEL_MAX + 1], *program;
	struct trc_to to = { .start = true,
		.name = c->opts.value[OPT_NAME],
		.sandbox = c->opts.value[OPT_SANDBOX],
		.network = c->opts.value[OPT_NETWORK] };
	bool follows = opt_given(&c->opts, OPT_FOLLOW), vain;
	struct json_object *args, *result;
	int code;

	(void)argc;
	if (opt_given(&c->opts, OPT_TREE) && !follows)
		return usage_error("--tree needs --follow: without it nothing "
		    "of the timeline is printed");
	label_for_program(argv[0], time(NULL), name);
	if (to.name == NULL)
		to.name = name;
	args = json_object_new_object();
	if (trc_build_launch(c, args, argv) == -1) {
		json_object_put(args);
		return CTL_USAGE;
	}
	program = strdup(reply_str(args, "command", ""));
	code = trc_ask(c, &to, "launch", args, &result);
	if (code == CTL_REFUSED && program != NULL)
		trc_tell_program(c, program);
	free(program);
	if (code != CTL_OK)
		return code;
	/* before other warnings take the place of this one */
	if ((vain = trc_is_vain(result)))
		report(TRC_NO_SYMBOLS ": " TRC_NO_SYMBOLS_WORDS);
	if (!follows)
		add_watched(c, result);
	code = follows ? follow(c, result) : show_launched(c, result);
	json_object_put(result);
	return code == CTL_OK && vain ? CTL_REFUSED : code;
}
