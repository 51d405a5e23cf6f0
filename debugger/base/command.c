/* SPDX-License-Identifier: ISC */
/* Runs a client's request if the client may send it and the state allows it. */
#include <json-c/json.h>

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "debuggee.h"
#include "debugger/text/codec.h"
#include "link.h"
#include "op.h"

static const struct command *const *tables;
static size_t		 ntables;
static const char	*(*over_words)(bool looks);
static void		 (*look_first)(void);

void
commands_set(const struct command *const *all, size_t n,
    const char *(*over)(bool), void (*look)(void))
{
	tables = all;
	ntables = n;
	over_words = over;
	look_first = look;
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

/* Why not now, and what would help. */
static const struct {
	const char	*code, *words;
} not_now[PHASE_COUNT] = {
	[PHASE_IDLE] = { "no_session", NULL },
	[PHASE_INITIALIZING] = { "not_stopped", "the program is still being "
	    "started: `debugger await` waits for its first stop" },
	[PHASE_CONFIGURING] = { "not_stopped", "the program is still being "
	    "started: `debugger await` waits for its first stop" },
	[PHASE_RUNNING] = { "not_stopped", "the program is running: "
	    "`debugger pause` stops it, `debugger await` waits until it stops" },
	[PHASE_STOPPED] = { "already_started", "a program is being debugged "
	    "here: `debugger restart` runs it anew, `debugger stop` ends it" },
	[PHASE_TERMINATED] = { "not_running", NULL },
};

bool
command_allowed(struct op *op, unsigned int when)
{
	if ((when & ON(dbg.phase)) != 0)
		return true;
	if ((when & ON_LIVE) == 0 && dbg.phase != PHASE_STOPPED)
		op_fail(op, not_now[PHASE_STOPPED].code, "%s",
		    not_now[PHASE_STOPPED].words);
	else if (not_now[dbg.phase].words == NULL)
		op_fail(op, not_now[dbg.phase].code, "%s", over_words(!op->ask.rw));
	else
		op_fail(op, not_now[dbg.phase].code, "%s",
		    not_now[dbg.phase].words);
	return false;
}

bool
op_stopped(struct op *op)
{
	return command_allowed(op, ON_STOPPED);
}

/* An editor's, which no connection asks for here, is told by its own name. */
static void
tell_action(const struct op *op, const char *name)
{
	enum dbg_action action = dbg_action_find(name);

	if (action != DBG_ACTION_NONE && op->ask.conn != 0)
		link_does(&op->ask, action);
}

static void
run(struct op *op, const char *name)
{
	const struct command *c = op->command;

	look_first();
	/* also what is refused: who has tried is of interest */
	if (c != NULL)
		tell_action(op, c->name);
	if (c == NULL)
		op_fail(op, "unknown_command", "the debugger has no command "
		    "\"%s\"", name);
	else if (!c->ro && !op->ask.rw)
		op_fail(op, "read_only", "%s changes the program: it takes "
		    "more than the right to look", c->name);
	else if (command_allowed(op, c->when))
		c->run(op);
}

void
commands_run(const struct ask *ask, const char *text, size_t len)
{
	struct json_object *json, *name = NULL, *args = NULL;
	const struct command *c = NULL;
	const char *why = "", *word = "";
	struct op *op;

	json = codec_parse(text, len, &why);
	if (json != NULL && json_object_object_get_ex(json, "command", &name) &&
	    json_object_is_type(name, json_type_string)) {
		word = json_object_get_string(name);
		c = find(word);
	}
	(void)json_object_object_get_ex(json, "args", &args);
	op = op_new(ask, c, json_object_is_type(args, json_type_object) ?
	    json_object_get(args) : NULL);
	if (json == NULL)
		op_fail(op, "invalid_argument", "the request cannot be read: "
		    "%s", why);
	else if (args != NULL && !json_object_is_type(args, json_type_object))
		op_fail(op, "invalid_argument", "\"args\" must be an object");
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
