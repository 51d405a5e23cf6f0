/* SPDX-License-Identifier: ISC */
/* links: inst/op.c inst/waiters.c tracer/base/op.c tracer/base/params.c tracer/base/vec.c common/base/json.c common/base/text.c common/base/log.c common/base/loop.c common/base/utf8.c */
/* covers: inst/op.c tracer/base/op.c tracer/base/params.c tracer/base/vec.c */
/*
 * Fuzz target of requests to a tracer: each line of the input is one, of
 * commands that take arguments of every kind, keep their op for later, or
 * forget to answer.  Every request has one answer, which is JSON.
 */
#include <json-c/json.h>

#include <stdio.h>

#include "base/json.h"
#include "regress/fuzz/fuzz.h"

#include "tracer/session/commands.h"
#include "tracer/base/vec.h"

struct args {
	const char	*name;
	struct json_object *list, *pairs, *object;
	bool		 flag;
	int64_t		 n;
};

static const struct param params[] = {
	{ "name", PARAM_STRING, offsetof(struct args, name), true, 0, 64 },
	{ "list", PARAM_STRINGS, offsetof(struct args, list), false, 0, 4 },
	{ "pairs", PARAM_PAIRS, offsetof(struct args, pairs), false, 0, 0 },
	{ "object", PARAM_OBJECT, offsetof(struct args, object), false, 0, 0 },
	{ "flag", PARAM_BOOL, offsetof(struct args, flag), false, 0, 0 },
	{ "n", PARAM_NUMBER, offsetof(struct args, n), false, -5, 500 },
	{ .name = NULL }
};
static const struct param none[] = { { .name = NULL } };

static struct op	*kept;
static unsigned int	 asked, answered;

static void
look(struct op *op)
{
	struct text t = { .max = 256 };
	struct args a = { .name = NULL, .n = 7 };
	struct vec v = { 0 };
	size_t i;

	if (!op_params(op, params, &a))
		return;
	must(a.name != NULL && strlen(a.name) <= 64);
	must(a.n >= -5 && a.n <= 500);
	if (a.list != NULL)
		must(json_object_array_length(a.list) <= 4);
	vec_add(&v, a.name);
	if (a.pairs != NULL) {
		json_object_object_foreach(a.pairs, name, one)
			vec_pair(&v, name, json_object_get_string(one));
	}
	for (i = 1; i < v.n; i++)
		must(strchr(v.v[i], '=') > v.v[i]);
	must(v.v[v.n] == NULL);
	vec_free(&v);
	text_puts(&t, "{\"name\":");
	json_quoted(&t, a.name, strlen(a.name));
	text_puts(&t, "}");
	trace_reply(op, &t);
}

static void
nothing(struct op *op)
{
	struct args a;

	(void)op_params(op, none, &a);
}

static void
change(struct op *op)
{
	if (op_may_change(op))
		trace_fail(op, "NO", NULL, "%s", op->command->name);
}

static void
later(struct op *op)
{
	if (kept != NULL)
		op_unref(kept);
	kept = op_ref(op);
}

static void
too_long(struct op *op)
{
	struct text t = { .max = 8 };

	text_puts(&t, "{\"long\":\"too long\"}");
	trace_reply(op, &t);
}

static const struct command lookers[] = {
	{ "look", true, TRC_ACTION_NONE, look },
	{ "change", false, TRC_ACTION_TRACE, change },
	{ "later", true, TRC_ACTION_RESUME, later },
	{ .name = NULL }
};
static const struct command others[] = {
	{ "nothing", true, TRC_ACTION_NONE, nothing },
	{ "long", true, TRC_ACTION_EXPORT, too_long },
	{ .name = NULL }
};
static const struct command *const tables[] = { lookers, others };

void
link_reply(const struct ask *a, bool failed, const char *json, size_t len)
{
	struct json_tokener *t = json_tokener_new();
	struct json_object *o = json_tokener_parse_ex(t, json, (int)len), *v;

	answered++;
	must(a->id <= asked && json_object_is_type(o, json_type_object));
	must(json_tokener_get_parse_end(t) == len);
	must(memchr(json, '\n', len) == NULL);
	must(!failed || json_object_object_get_ex(o, "message", &v));
	json_object_put(o);
	json_tokener_free(t);
}

void
link_does(const struct ask *a, uint32_t action)
{
	must(a->id == asked && trc_action_name((enum trc_action)action) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ask a = { .conn = 1 };
	struct input in = { data, len }, line;
	uint8_t how = take_u8(&in);
	unsigned int unheard = 0;
	const uint8_t *nl;
	char *text;

	tracer_commands(tables, 2);
	asked = answered = 0;
	while (in.left > 0) {
		nl = memchr(in.p, '\n', in.left);
		line = take_part(&in, nl == NULL ? in.left :
		    (size_t)(nl - in.p));
		text = copy_of(line.p, line.left, false);
		a.id = ++asked;
		a.rw = (how & 1) != 0;
		a.conn = 1 + asked % 2;
		commands_run(&a, text, line.left);
		free(text);
		if (nl != NULL)
			(void)take_u8(&in);
	}
	if (kept != NULL) {
		unheard = (how & 2) != 0 && !kept->answered;
		if (unheard)
			op_conn_gone(kept->ask.conn);
		op_unref(kept);
	}
	kept = NULL;
	must(answered + unheard == asked);
	return 0;
}
