/* SPDX-License-Identifier: ISC */
/* Commands of the control protocol: a row of a table for each. */
#ifndef DL_NET_COMMAND_H
#define DL_NET_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "netproc/text/line.h"
#include "wire/proto.h"

struct conn;
struct param;
struct rsession;

#define ARGS_ANY	255

struct command {
	const char	*verb;
	unsigned int	 min, max;	/* words after the verb */
	bool		 session;	/* the first of them names a session */
	bool		 extension;	/* not part of the base protocol */
	enum access	 need;		/* ACCESS_SEE: also when read-only */
	bool		 guest;		/* a session's guests may, too */
	const struct param *params;	/* the same by name */
	const char	*usage, *description;
	/* s is NULL unless session is set; ws->w[0] is the verb. */
	void		 (*run)(struct conn *, struct rsession *s,
			    const struct words *ws);
};

/* Adds n rows, borrowed for good, to the table. */
void	 command_add(const struct command *rows, size_t n);
/* The row at that place from 0 on; NULL behind the last. */
const struct command *command_at(size_t);
/* NULL when there is none of this name. */
const struct command *command_find(const char *verb);
const struct command *command_named(const struct word *verb);
/* Answers invalid_argument with the usage of the command and what is wrong. */
void	 command_misused(struct conn *, const struct words *,
	    const char *what);

#endif
