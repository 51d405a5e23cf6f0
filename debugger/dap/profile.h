/* SPDX-License-Identifier: ISC */
/* Facts about each kind of adapter, as data; and which one to take. */
#ifndef DEBUGGER_DAP_PROFILE_H
#define DEBUGGER_DAP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "dialect.h"

struct json_object;

enum language { LANG_NATIVE, LANG_GO, LANG_PYTHON, LANG_COUNT };

enum quirk {
	/* memory and instructions can be had by its commands where no
	 * request is announced */
	Q_LLDB_COMMANDS	= 1 << 0,
	/* it dials a socket instead of speaking on its pipes */
	Q_DIALS		= 1 << 1,
	/* the binary is the language's, the adapter is a part of it */
	Q_NEEDS_INTERPRETER = 1 << 2,
	/* SIGKILL is exit code 9 to it; other signals stop first */
	Q_SIGNAL_IS_CODE = 1 << 3,
	/* some versions run the program when they are told to launch it, others
	 * load it no sooner than that: launch comes after the breakpoints,
	 * which may all be pending */
	Q_LAUNCH_LAST	= 1 << 4,
	/* it pauses all threads, and answers no request that it got with the
	 * one that let the program run before that stops */
	Q_PAUSES_ALL	= 1 << 5,
	/* it can do less than the others: no watchpoints */
	Q_CHOSEN_LAST	= 1 << 6
};

/* Where the value of a member of launch or attach comes from. */
enum source {
	FROM_END,
	FROM_TEXT,		/* text itself */
	FROM_JSON,		/* text is JSON */
	FROM_TRUE, FROM_FALSE,
	FROM_PROGRAM, FROM_ARGS, FROM_CWD,
	FROM_ENV_LIST,		/* ["K=V"] */
	FROM_ENV_MAP,		/* {"K":"V"} */
	FROM_STOP_ON_ENTRY,
	FROM_PID,
	FROM_START_COMMANDS,	/* of lldb: fds 3, 4, 5, and signals */
	FROM_SIGNAL_COMMANDS,	/* the latter alone */
	FROM_ATTACH_COMMANDS,	/* of lldb: program instead of the file */
	FROM_STDIO_PATHS,	/* names of fds 3, 4, 5 */
	FROM_ADAPTER		/* the path of the adapter's binary */
};

struct member {
	const char	*name;
	enum source	 from;
	const char	*text;
};

struct profile {
	const char	*name;		/* as users call it */
	const char	*aka;		/* and also; or NULL */
	const char	*adapter_id;	/* in initialize */
	const char	*binary;	/* "-NN" may follow */
	const char	*const *elsewhere;	/* glob(7) patterns, ~ = home; or NULL */
	/* glob below the binary's prefix, without which it is none; or NULL */
	const char	*witness;
	const char	*const *args;	/* after argv[0], NULL-terminated */
	/* to attach, args go on with this and an injector's path; or NULL */
	const char	*inject;
	const char	*const *version_args;	/* NULL = --version */
	const char	*install;	/* what to do to have it */
	const struct member *launch;
	const struct member *attach;
	unsigned int	 languages;	/* 1 << enum language */
	unsigned int	 quirks;
	const char	*main;		/* where programs begin; NULL = the first line */
	const char	*exit_words;	/* in its console, before a number */
	const char	*no_exception;	/* in words: a way to exit; or NULL */
	const char	*const *never;	/* requests that end it; or NULL */
	struct dialect	 dialect;
};

extern const struct profile profiles[];	/* until name is NULL */

/* By name; NULL = none. */
const struct profile *profile_find(const char *name);
bool	 profile_never(const struct profile *, const char *request);

/* A program's language, by its first bytes and sections.  -1 with *why. */
int	 profile_language(const char *path, enum language *, const char **why);

/* An adapter that is there. */
struct adapter_found {
	const struct profile *profile;
	char		 path[4096];
};

/* For programs of a language, in order of preference; NULL = no more. */
const struct profile *profile_for(enum language, size_t n);
/*
 * Looks in the directories of path (like $PATH) and where packages put it;
 * the highest version wins.  false = not there.
 */
bool	 profile_locate(const struct profile *, const char *path,
	    const char *home, struct adapter_found *);

/* Sources of the members of a launch request; all borrowed. */
struct launch_facts {
	const char	*program, *cwd;
	const char	*adapter_path;
	struct json_object *args;	/* array of strings or NULL */
	struct json_object *env;	/* array of "K=V" or NULL */
	bool		 stop_on_entry;
	pid_t		 pid;		/* attach */
	const char	*file;		/* what that executes; empty = unknown */
	pid_t		 adapter_pid;	/* as its own namespace numbers it */
};
/* The arguments of launch or attach.  The caller owns them. */
struct json_object *profile_arguments(const struct member *,
	    const struct launch_facts *);

#endif
