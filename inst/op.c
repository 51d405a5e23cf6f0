/* SPDX-License-Identifier: ISC */
/* From a client's request to what does it: commands, and the life of an op. */
#include <json-c/json.h>

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "op.h"

static TAILQ_HEAD(, op) ops = TAILQ_HEAD_INITIALIZER(ops);

static const struct command *const *tables;
static size_t		 ntables;
static const struct op_rules *rules;

/* -- the life of one ------------------------------------------------------- */

struct op *
op_new(const struct ask *ask, const struct command *command,
    struct json_object *args)
{
	struct op *op = calloc(1, sizeof(*op));

	if (args == NULL)
		args = json_object_new_object();
	if (op == NULL || args == NULL)
		fatal("request");
	op->ask = *ask;
	op->command = command;
	op->args = args;
	op->refs = 1;
	TAILQ_INSERT_TAIL(&ops, op, entry);
	return op;
}

struct op *
op_ref(struct op *op)
{
	op->refs++;
	return op;
}

void
op_unref(struct op *op)
{
	if (op->refs == 1 && !op->answered)
		rules->refuse(op, OP_UNANSWERED, "");
	if (--op->refs > 0)
		return;
	TAILQ_REMOVE(&ops, op, entry);
	if (op->free_data != NULL)
		op->free_data(op->data);
	json_object_put(op->args);
	free(op->warning);
	free(op);
}

void
op_conn_gone(uint32_t conn)
{
	struct op *op, *next;

	for (op = TAILQ_FIRST(&ops); op != NULL; op = next) {
		next = TAILQ_NEXT(op, entry);
		if (op->ask.conn != conn || op->answered)
			continue;
		op->answered = true;
		if (op->finished != NULL)
			op->finished(op);
	}
}

/* -- commands -------------------------------------------------------------- */

void
commands_set(const struct command *const *all, size_t n,
    const struct op_rules *r)
{
	tables = all;
	ntables = n;
	rules = r;
}

void
commands_each(void (*fn)(const struct command *, void *), void *arg)
{
	const struct command *c;
	size_t i;

	for (i = 0; i < ntables; i++)
		for (c = tables[i]; c->name != NULL; c++)
			fn(c, arg);
}

static const struct command *
find(const char *name)
{
	const struct command *c;
	size_t i;

	for (i = 0; i < ntables; i++)
		for (c = tables[i]; c->name != NULL; c++)
			if (strcmp(c->name, name) == 0)
				return c;
	return NULL;
}

static void
run(struct op *op, const char *name)
{
	const struct command *c = op->command;
	uint32_t action;

	if (c == NULL) {
		rules->refuse(op, OP_UNKNOWN, name);
		return;
	}
	/* also what is refused: who has tried is of interest */
	action = rules->action(op);
	if (action != 0)
		link_does(&op->ask, action);
	if (!c->ro && !op->ask.rw)
		rules->refuse(op, OP_READ_ONLY, "");
	else if (rules->is_now == NULL || rules->is_now(op))
		c->run(op);
}

void
commands_run(const struct ask *ask, const char *text, size_t len)
{
	struct json_object *name = NULL, *args = NULL, *json;
	const char *why = "", *word = NULL;
	const struct command *c = NULL;
	struct op *op;

	json = rules->parse(text, len, &why);
	if (json_object_object_get_ex(json, "command", &name) &&
	    json_object_is_type(name, json_type_string)) {
		word = json_object_get_string(name);
		c = find(word);
	}
	(void)json_object_object_get_ex(json, "args", &args);
	op = op_new(ask, c, json_object_is_type(args, json_type_object) ?
	    json_object_get(args) : NULL);
	if (json == NULL)
		rules->refuse(op, OP_UNREAD, why);
	else if (word == NULL)
		rules->refuse(op, OP_UNNAMED, "");
	else if (args != NULL && !json_object_is_type(args, json_type_object))
		rules->refuse(op, OP_BAD_ARGS, "");
	else
		run(op, word);
	op_unref(op);
	json_object_put(json);
}

void
commands_give(const struct ask *ask, const char *name,
    struct json_object *args, void (*told)(struct op *, bool,
    struct json_object *), void *data)
{
	struct op *op = op_new(ask, find(name), args);

	op->told = told;
	op->told_data = data;
	run(op, name);
	op_unref(op);
}
