/* SPDX-License-Identifier: ISC */
/* Sessions of commands of the target: made, or made, started and attached to
 * in one go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "basic.h"
#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "rawterm.h"
#include "session.h"
#include "shell.h"
#include "switches.h"

static int
put_env(struct json_object *o, const struct options *opts)
{
	const struct opt_list *list = &opts->list[LIST_ENV];
	struct json_object *env = json_object_new_object();
	const char *text, *equals;
	char *key;
	size_t i;
	int r = 0;

	json_object_object_add(o, "env", env);
	for (i = 0; i < list->n && r == 0; i++) {
		text = list->value[i];
		if ((equals = strchr(text, '=')) == NULL || equals == text) {
			report("\"%s\": give KEY=VALUE", text);
			return -1;
		}
		if (args_check(text) == -1 || (key = strndup(text,
		    (size_t)(equals - text))) == NULL)
			return -1;
		r = args_text(env, key, equals + 1);
		free(key);
	}
	return r;
}

/* A terminal is as large as ours, if we have one. */
static void
put_terminal(struct json_object *o, bool ephemeral)
{
	unsigned int cols, rows;

	json_object_object_add(o, "tty", json_object_new_boolean(1));
	if (ephemeral)
		json_object_object_add(o, "ephemeral",
		    json_object_new_boolean(1));
	if (!rawterm_size(&cols, &rows))
		return;
	json_object_object_add(o, "cols", json_object_new_int((int)cols));
	json_object_object_add(o, "rows", json_object_new_int((int)rows));
}

/* The answer is the caller's to put. */
static int
new_session(struct client *c, bool tty, bool ephemeral, char **argv,
    struct json_object **jsonp)
{
	struct json_object *args = json_object_new_object();

	*jsonp = NULL;
	if (tty)
		put_terminal(args, ephemeral);
	if (args_list(args, "argv", argv) == -1 || put_env(args, &c->opts) == -1 ||
	    args_text(args, "name", c->opts.value[OPT_NAME]) == -1 ||
	    args_text(args, "cwd", c->opts.value[OPT_CWD]) == -1) {
		json_object_put(args);
		return CTL_USAGE;
	}
	return client_request(c, "new", args, jsonp);
}

static void
forget(struct client *c, const char *id)
{
	struct json_object *json;
	int code;

	/* The connection was the terminal's. */
	dconn_close(c->conn);
	c->conn = NULL;
	/* It need not be there any more, and nobody asked for this. */
	report_hold();
	code = client_ask(c, &json, "DELETE", id, NULL);
	json_object_put(json);
	if (code == CTL_REFUSED) {
		client_ask(c, &json, "KILL", id, NULL);
		json_object_put(json);
		client_ask(c, &json, "DELETE", id, NULL);
		json_object_put(json);
	}
	free(report_release());
}

int
shell_run(struct client *c, const char *id)
{
	struct attach_how how = { .own = true };
	struct json_object *json;
	bool over;
	int code;

	code = start_session(c, id, NULL, &json);
	json_object_put(json);
	if (code != CTL_OK) {
		forget(c, id);
		return code;
	}
	code = attach_session(c, id, &how, &over);
	if (over)
		forget(c, id);
	return code;
}

int
ctl_shell(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	char *id;
	int code;

	(void)argc;
	if ((code = attach_check(c)) != CTL_OK)
		return code;
	code = new_session(c, true, true, argv, &json);
	if (code != CTL_OK)
		return code;
	id = strdup(reply_str(json, "id", ""));
	json_object_put(json);
	code = id != NULL ? shell_run(c, id) : usage_error("out of memory");
	free(id);
	return code;
}

int
ctl_new(struct client *c, int argc, char **argv)
{
	struct json_object *json;
	int code;

	(void)argc;
	code = new_session(c, opt_given(&c->opts, OPT_TTY), false, argv,
	    &json);
	if (code != CTL_OK)
		return code;
	return print_new(c, json);
}
