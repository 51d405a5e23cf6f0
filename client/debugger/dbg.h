/* SPDX-License-Identifier: ISC */
/* Context and table of debugger's commands. */
#ifndef CLIENT_DEBUGGER_DBG_H
#define CLIENT_DEBUGGER_DBG_H

#include <json-c/json.h>
#include <stdbool.h>

#include "client/lib/client.h"
#include "options.h"

#define DBG_NAME	"debugger"

/* Exit codes 0 to 3 are those of report.h. */
enum dbg_exit {
	DBG_NO_SESSION = 3,	/* nor a daemon */
	DBG_ADAPTER = 4,	/* the debug adapter is missing or has failed */
	DBG_TIMEOUT = 5,
};

struct dbg_command;
struct view;

struct dbg {
	/* the first member: what opens connections gets the rest by it */
	struct client			 client;
	const struct dbg_command	*command;
	bool				 own;		/* the user's own daemon */
	bool				 may_start;	/* ... may be started */
	bool				 may_lack;	/* none is no error ... */
	bool				 lacking;	/* ... and there is none */
	bool				 printed;	/* JSON, to stdout */
};

/* A command as the table has it; argv: the words after its name. */
struct dbg_command {
	const char	*name;		/* one word or two */
	const char	*aliases;	/* with commas between, or NULL */
	const char	*usage;		/* words after the name */
	const char	*summary;
	const char	*request;	/* NULL: run sees to everything */
	/* Adds to the request what the words say; -1 after a report. */
	int		(*build)(struct dbg *, struct json_object *args,
			    int argc, char **argv);
	/* Prints the result for people. */
	void		(*show)(struct json_object *, const struct view *);
	/* Instead of these two. An exit code. */
	int		(*run)(struct dbg *, int argc, char **argv);
	int		 min;		/* words */
	int		 max;		/* -1: any number */
	bool		 waits;		/* for the program to stop */
	uint64_t	 options;	/* DOPT() of options.h */
};

extern const struct dbg_command dbg_commands[];
extern const size_t dbg_ncommands;

/*
 * The command that n words begin with; *usedp is how many of them are its
 * name. NULL when there is none.
 */
const struct dbg_command *dbg_command_find(int n, char **words, int *usedp);

#endif
