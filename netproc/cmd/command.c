/* SPDX-License-Identifier: ISC */
/* The table of commands, which is put together at the start. */
#include <string.h>

#include "base/log.h"
#include "command.h"
#include "netproc/conn/answer.h"

/* Each directory adds its own. */
#define SETS_MAX	3
static struct {
	const struct command	*rows;
	size_t			 n;
} sets[SETS_MAX];
static size_t nsets;

void
command_add(const struct command *rows, size_t n)
{
	if (nsets == SETS_MAX)
		fatalx("command_add");
	sets[nsets].rows = rows;
	sets[nsets++].n = n;
}

const struct command *
command_at(size_t i)
{
	size_t k;

	for (k = 0; k < nsets; i -= sets[k++].n)
		if (i < sets[k].n)
			return &sets[k].rows[i];
	return NULL;
}

const struct command *
command_named(const struct word *verb)
{
	const struct command *cmd;
	size_t i;

	for (i = 0; (cmd = command_at(i)) != NULL; i++)
		if (word_is(verb, cmd->verb))
			return cmd;
	return NULL;
}

const struct command *
command_find(const char *verb)
{
	const struct word w = { verb, strlen(verb) };

	return command_named(&w);
}

void
command_misused(struct conn *c, const struct words *ws, const char *what)
{
	const struct command *cmd = command_named(&ws->w[0]);

	answer_errorf(c, ERR_INVALID_ARGUMENT, "%s; usage: %s", what,
	    cmd == NULL ? "HELP" : cmd->usage);
}
