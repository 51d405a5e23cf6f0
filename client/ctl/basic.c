/* SPDX-License-Identifier: ISC */
/* Commands that are one question and one answer about sessions. */
#include <bsd/stdlib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/term.h"
#include "commands.h"
#include "rawterm.h"
#include "session.h"

int
ctl_session(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	code = client_ask(c, &json, c->command->verb, argv[0],
	    argc > 1 ? argv[1] : NULL, NULL);
	return code == CTL_OK ? client_show(c, json, session_print_line) : code;
}

int
ctl_status(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	code = client_ask(c, &json, c->command->verb, argv[0], NULL);
	return code == CTL_OK ? client_show(c, json, session_print) : code;
}

int
ctl_signal(struct client *c, int argc, char **argv)
{
	/* kill(1) has taught people to write -9 and -TERM. */
	if (argv[1][0] == '-')
		argv[1]++;
	return ctl_session(c, argc, argv);
}

int
line_size(struct line *l)
{
	unsigned int cols, rows;

	if (!rawterm_size(&cols, &rows))
		return 0;
	if (line_number(l, "cols", cols) == -1)
		return -1;
	return line_number(l, "rows", rows);
}

int
start_session(struct client *c, const char *id, const char *option,
    struct json_object **jsonp)
{
	static const enum opt choices[] = { OPT_SANDBOX, OPT_NETWORK };
	struct line l = { 0 };
	char flag[16];
	size_t i;
	int code;

	*jsonp = NULL;
	if (line_word(&l, "START") == -1 || line_word(&l, id) == -1 ||
	    (option != NULL && line_word(&l, option) == -1))
		goto fail;
	for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		if (!opt_given(&c->opts, choices[i]))
			continue;
		snprintf(flag, sizeof(flag), "--%s",
		    opt_name(choices[i]));
		if (line_word(&l, flag) == -1 ||
		    line_word(&l, c->opts.value[choices[i]]) == -1)
			goto fail;
	}
	if (opt_given(&c->opts, OPT_SPLIT) && line_word(&l, "--split") == -1)
		goto fail;
	if (opt_given(&c->opts, OPT_TTY) && (line_word(&l, "--tty") == -1 ||
	    line_size(&l) == -1))
		goto fail;
	code = client_send_line(c, &l);
	return code == CTL_OK ? client_answer(c, jsonp) : code;
fail:
	free(l.text);
	return CTL_USAGE;
}

int
ctl_start(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	code = start_session(c, argv[0],
	    opt_given(&c->opts, OPT_DEBUG) ? "--debug" : NULL, &json);
	return code == CTL_OK ? client_show(c, json, session_print_line) : code;
}

int
args_line(struct line *l, const char *id, char **argv)
{
	if (line_word(l, "ARGS") == -1 || line_word(l, id) == -1)
		return -1;
	for (; *argv != NULL; argv++)
		if (line_quoted(l, *argv) == -1)
			return -1;
	return 0;
}

int
print_new(struct client *c, struct json_object *json)
{
	char *id;

	if (opt_given(&c->opts, OPT_QUIET)) {
		id = safe_string(reply_str(json, "id", ""));
		puts(id);
		free(id);
	} else if (c->json)
		reply_print(json, stdout);
	else
		session_print_line(json, stdout);
	json_object_put(json);
	return report_flush();
}

int
ctl_args(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	struct line l = { 0 };
	int code;

	(void)argc;
	if (args_line(&l, argv[0], argv + 1) == -1) {
		free(l.text);
		return CTL_USAGE;
	}
	if ((code = client_send_line(c, &l)) == CTL_OK)
		code = client_answer(c, &json);
	return code == CTL_OK ? client_show(c, json, session_print_line) : code;
}

int
change_variable(struct client *c, const char *verb, const char *id,
    const char *text, struct json_object **jsonp)
{
	struct line l = { 0 };
	int code;

	*jsonp = NULL;
	if (strcmp(verb, "ENV") == 0 &&
	    (strchr(text, '=') == NULL || *text == '='))
		return usage_error("\"%s\": give KEY=VALUE", text);
	if (line_word(&l, verb) == -1 ||
	    line_word(&l, id) == -1 || line_as_it_is(&l, text) == -1) {
		free(l.text);
		return CTL_USAGE;
	}
	code = client_send_line(c, &l);
	return code == CTL_OK ? client_answer(c, jsonp) : code;
}

int
ctl_env(struct client *c, int argc, char **argv)
{
	struct json_object *json = NULL;
	int code, i;

	for (i = 1; i < argc; i++) {
		json_object_put(json);
		json = NULL;
		code = change_variable(c, c->command->verb, argv[0],
		    argv[i], &json);
		if (code != CTL_OK)
			return code;
	}
	return client_show(c, json, session_print_line);
}

static void
print_variables(struct json_object *json, FILE *out)
{
	char *key, *value;

	if (!json_object_is_type(json, json_type_object))
		return;
	json_object_object_foreach(json, k, v) {
		key = safe_string(k);
		value = safe_string(json_object_get_string(v));
		fprintf(out, "%s=%s\n", key, value);
		free(key);
		free(value);
	}
}

int
ctl_envlist(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	code = client_ask(c, &json, c->command->verb, argv[0], NULL);
	return code == CTL_OK ? client_show(c, json, print_variables) : code;
}

int
ctl_limits(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	struct line l = { 0 };
	int code = CTL_OK, i;

	if (line_word(&l, c->command->verb) == -1)
		code = CTL_USAGE;
	for (i = 0; i < argc && code == CTL_OK; i++)
		if (line_word(&l, argv[i]) == -1)
			code = CTL_USAGE;
	if (code != CTL_OK) {
		free(l.text);
		return code;
	}
	if ((code = client_send_line(c, &l)) == CTL_OK)
		code = client_answer(c, &json);
	return code == CTL_OK ? client_show(c, json, session_print_line) : code;
}

static void
print_list(struct json_object *json, FILE *out)
{
	if (json_object_array_length(json) == 0)
		fputs("no sessions\n", out);
	else
		session_print_table(json, out, term_width(STDOUT_FILENO), 0,
		    term_colours(STDOUT_FILENO));
}

int
ctl_list(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	(void)argv;
	if ((code = client_ask(c, &json, c->command->verb, NULL)) != CTL_OK)
		return code;
	if (!json_object_is_type(json, json_type_array)) {
		report("the answer to LIST is not a list");
		json_object_put(json);
		return CTL_UNREACHABLE;
	}
	return client_show(c, json, print_list);
}

/* Goes on after a refusal, so that one wrong id does not keep the others. */
int
ctl_delete(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code, i, worst = CTL_OK;

	for (i = 0; i < argc; i++) {
		code = client_ask(c, &json, c->command->verb, argv[i], NULL);
		if (code == CTL_OK)
			code = client_show(c, json, session_print_line);
		if (code > worst)
			worst = code;
		if (code > CTL_REFUSED)
			break;
	}
	return worst;
}

/* Tells a waiting user that somebody else has yet to start the session. */
static int
tell_unstarted(struct client *c, const char *id)
{
	struct json_object *json;
	int code = client_ask(c, &json, "STATUS", id, NULL);

	if (code != CTL_OK)
		return code;
	if (strcmp(reply_str(json, "state", ""), "LOADED") == 0)
		report("the session has not been started yet; waiting for its "
		    "start as well");
	json_object_put(json);
	return CTL_OK;
}

int
ctl_wait(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	const char *state;
	bool ended;
	int code;

	if ((code = tell_unstarted(c, argv[0])) != CTL_OK)
		return code;
	code = client_ask(c, &json, c->command->verb, argv[0],
	    argc > 1 ? argv[1] : NULL, NULL);
	if (code != CTL_OK)
		return code;
	state = reply_str(json, "state", "");
	ended = strcmp(state, "STOPPED") == 0;
	if (!ended)
		report("the session is still %s", state);
	code = client_show(c, json, session_print_line);
	return code == CTL_OK && !ended ? CTL_REFUSED : code;
}
