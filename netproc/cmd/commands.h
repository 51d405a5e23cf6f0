/* SPDX-License-Identifier: ISC */
/* The commands of the control protocol: one row each. */
#ifndef DL_NET_COMMANDS_H
#define DL_NET_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "netproc/text/line.h"
#include "proto.h"

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

/* Connections read commands by the table. */
void	 command_init(void);
/* Adds a row, borrowed for good, to the table. */
void	 command_add(const struct command *);
/* The row at that place from 0 on; NULL behind the last. */
const struct command *command_at(size_t);
/* NULL when there is none of this name. */
const struct command *command_find(const char *verb);
/*
 * Runs a row for words that were made of something else than a line; run in
 * place of the row's own function, unless it is NULL.
 */
void	 command_row(struct conn *, const struct command *,
	    void (*run)(struct conn *, struct rsession *,
	    const struct words *), const struct words *);
/* Answers invalid_argument with the usage of the command and what is wrong. */
void	 command_misused(struct conn *, const struct words *,
	    const char *what);

#endif
