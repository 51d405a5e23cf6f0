/* SPDX-License-Identifier: ISC */
/* debugger, the command line client of debug sessions. A command is a process
 * that lives for a millisecond or two: nothing is read that it does not
 * need. */
#include <bsd/string.h>
#include <err.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "client/lib/args.h"
#include "client/lib/local.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/start.h"
#include "dbg.h"
#include "help.h"
#include "open.h"
#include "request.h"
#include "view.h"

/* $DEBUGLANTERN_SOCKET: a path, or the target of that form. */
static int
take_path(struct target *t, const char *path)
{
	t->kind = TARGET_UNIX;
	if (strncmp(path, "unix:", 5) == 0)
		path += 5;
	if (strlcpy(t->path, path, sizeof(t->path)) < sizeof(t->path))
		return 0;
	report("$DEBUGLANTERN_SOCKET: \"%s\" is longer than %zu bytes", path,
	    sizeof(t->path) - 1);
	return -1;
}

/* The user's own daemon, unless another one is named. */
static int
set_target(struct dbg *d)
{
	const char *text = opt_value(&d->client.opts, DOPT_TARGET);
	const char *path = getenv("DEBUGLANTERN_SOCKET");
	bool system = opt_given(&d->client.opts, DOPT_SYSTEM);
	struct target *t = &d->client.target;

	if (text != NULL && system) {
		report("--target and --system name two daemons: give one");
		return -1;
	}
	if (text != NULL && target_parse(t, text) == -1) {
		report("target \"%s\": " TARGET_FORMS, text);
		return -1;
	}
	if (text != NULL)
		return 0;
	if (system)
		local_system(t);
	else if (path != NULL && *path != '\0')
		return take_path(t, path);
	else {
		local_own(t);
		d->own = true;
	}
	return 0;
}

/* Words are counted before anybody is asked, as options are. */
static int
wrong_words(const struct dbg_command *c, int n)
{
	return usage_error("%s: too %s arguments; usage: " DBG_NAME " %s %s",
	    c->name, n < c->min ? "few" : "many", c->name, c->usage);
}

/* words: those after the command's name, NULL terminated. */
static int
run_command(struct dbg *d, int n, char **words)
{
	const struct dbg_command *c = d->command;

	if (opt_given(&d->client.opts, DOPT_HELP)) {
		dbg_help_print(c, stdout);
		return report_flush();
	}
	if (n < c->min || (c->max != -1 && n > c->max))
		return wrong_words(c, n);
	d->client.json = d->client.json_errors =
	    opt_given(&d->client.opts, DOPT_JSON);
	if (set_target(d) == -1)
		return CTL_USAGE;
	return c->run != NULL ? c->run(d, n, words) :
	    dbg_request_run(d, n, words);
}

/* Options alone; that nothing was asked for is wrong usage, not help. */
static int
without_command(const struct dbg *d)
{
	if (opt_given(&d->client.opts, DOPT_VERSION))
		printf(DBG_NAME " %s\n", DL_VERSION);
	else if (opt_given(&d->client.opts, DOPT_HELP))
		dbg_help_print(NULL, stdout);
	else {
		dbg_help_print(NULL, stderr);
		return CTL_USAGE;
	}
	return report_flush();
}

/* words and rest have room for all of argv. */
static int
parse(struct dbg *d, int argc, char **argv, char **words, char **rest)
{
	struct options *o = &d->client.opts;
	int n, used;

	/* The command's name ends the options that are not its own. */
	n = options_parse(o, DOPTS_GLOBAL, 1, argc - 1, argv + 1, words);
	if (n == -1)
		return CTL_USAGE;
	if (n == 0 || opt_given(o, DOPT_VERSION))
		return without_command(d);
	if ((d->command = dbg_command_find(n, words, &used)) == NULL)
		return dbg_help_unknown(n, words);
	n = options_parse(o, DOPTS_GLOBAL | d->command->options, 0, n - used,
	    words + used, rest);
	if (n == -1)
		return report_usage(DBG_NAME, d->command->name,
		    d->command->usage);
	return opt_given(o, DOPT_VERSION) ? without_command(d) :
	    run_command(d, n, rest);
}

static int
run(struct dbg *d, int argc, char **argv)
{
	char **words, **rest;
	int code;

	words = calloc((size_t)argc + 1, sizeof(*words));
	rest = calloc((size_t)argc + 1, sizeof(*rest));
	if (words == NULL || rest == NULL)
		err(CTL_USAGE, NULL);
	code = parse(d, argc, argv, words, rest);
	free(words);
	free(rest);
	return code;
}

/* -- JSON for everything --------------------------------------------------- */

/* Whether stdout is to have JSON, before anything can go wrong. */
static bool
wants_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

/* Prints an error of this program in the form of the daemon's errors. */
static void
print_error(int code, const char *message)
{
	static const char *const codes[] = {
		[CTL_REFUSED] = "error", [CTL_USAGE] = "usage",
		[DBG_NO_SESSION] = "no_session", [DBG_ADAPTER] =
		"adapter_missing", [DBG_TIMEOUT] = "timeout",
	};
	struct json_object *o = json_object_new_object();
	struct json_object *error = json_object_new_object();

	args_number(o, "schema", 1);
	json_object_object_add(error, "code", json_object_new_string(
	    code >= 0 && (size_t)code < sizeof(codes) / sizeof(codes[0]) ?
	    codes[code] : codes[CTL_REFUSED]));
	json_object_object_add(error, "message",
	    json_object_new_string(message));
	json_object_object_add(o, "error", error);
	reply_print(o, stdout);
	json_object_put(o);
}

/*
 * Prints any failure as the one object on stdout; a warning beside an answer
 * goes to stderr.
 */
static int
run_json(struct dbg *d, int argc, char **argv)
{
	char *message;
	int code;

	report_hold();
	code = run(d, argc, argv);
	message = report_release();
	if (message != NULL && code != CTL_OK && !d->printed)
		print_error(code, message);
	else if (message != NULL)
		report("%s", message);
	free(message);
	return code;
}

/* Pipes and files take UTF-8 whatever the locale is. */
static void
set_locale(void)
{
	setlocale(LC_CTYPE, "");
	if (!view_utf8() && !isatty(STDOUT_FILENO))
		setlocale(LC_CTYPE, "C.UTF-8");
}

int
main(int argc, char **argv)
{
	struct dbg d = { .client = { .open = dbg_open,
	    .refused = dbg_refused } };
	int code;

	report_name = DBG_NAME;
	client_start();
	options_use(&dbg_options);
	set_locale();
	code = wants_json(argc, argv) ? run_json(&d, argc, argv) :
	    run(&d, argc, argv);
	dconn_close(d.client.conn);
	options_clear(&d.client.opts);
	return code;
}
