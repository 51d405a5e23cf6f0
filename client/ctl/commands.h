/* SPDX-License-Identifier: ISC */
/* The table of commands. */
#ifndef CLIENT_CTL_COMMANDS_H
#define CLIENT_CTL_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "switches.h"

struct client;

/* The words are a command for the target: behind its first one nothing is an
 * option, and a "--" is its own. */
#define LITERAL_COMMAND	SIZE_MAX

struct command {
	const char	*name;		/* perhaps of two words */
	const char	*alias;		/* NULL: none */
	const char	*usage;		/* words after the name */
	const char	*summary;
	/* argv: the words after the name, NULL terminated. An exit code. */
	int		(*handler)(struct client *, int argc, char **argv);
	const char	*verb;		/* of the protocol, for handlers that
					 * serve several commands */
	int		 min;		/* words */
	int		 max;		/* words; -1: any number */
	size_t		 literal;	/* no options after so many words */
	bool		 slow;		/* the daemon may take its time */
	bool		 anonymous;	/* sees to logging in by itself */
	uint64_t	 options;	/* OPT() of options.h */
};

extern const struct command commands[];
extern const size_t ncommands;

/* By its name or alias, which n words begin with; *usedp: how many of them it
 * took. NULL when there is none. */
const struct command *ctl_command_find(int n, char **words, int *usedp);

#endif
