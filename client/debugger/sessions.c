/* SPDX-License-Identifier: ISC */
/* Which debug sessions there are, and which one is meant. */
#include "ask.h"
#include "client/lib/args.h"
#include "client/lib/report.h"
#include "dbg.h"
#include "sessions.h"

/* The list as an object, as every other answer is one; takes list. */
static struct json_object *
wrap(struct json_object *list)
{
	struct json_object *o;

	if (json_object_is_type(list, json_type_object))
		return list;
	if (list == NULL)
		list = json_object_new_array();
	o = json_object_new_object();
	json_object_object_add(o, "schema", json_object_new_int(1));
	json_object_object_add(o, "sessions", list);
	return o;
}

int
dbg_sessions(struct dbg *d, int argc, char **argv)
{
	struct json_object *args = json_object_new_object(), *list = NULL;
	int code;

	(void)argc;
	(void)argv;
	args_true(args, "list");
	d->may_lack = true;
	code = dbg_ask_daemon(d, args, &list);
	/* where no daemon is, no session is */
	if (code != CTL_OK && !d->lacking)
		return code;
	return dbg_print(d, wrap(list));
}

/* Asking for its status by the way shows whether it is the one meant. */
int
dbg_sessions_use(struct dbg *d, int argc, char **argv)
{
	struct json_object *args, *result;
	int code;

	(void)argc;
	args = dbg_request("status", json_object_new_object());
	args_true(args, "use");
	if (args_text(args, "session", argv[0]) == -1) {
		json_object_put(args);
		return CTL_USAGE;
	}
	code = dbg_ask_daemon(d, args, &result);
	return code == CTL_OK ? dbg_print(d, result) : code;
}
