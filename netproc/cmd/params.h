/* SPDX-License-Identifier: ISC */
/*
 * Parameters of commands, by name: how the arguments of a JSON request become
 * the words of a line.
 */
#ifndef DL_NET_PARAMS_H
#define DL_NET_PARAMS_H

#include <stdbool.h>

#include "netproc/text/line.h"

enum param_kind {
	PARAM_WORD,		/* a string, not empty, no control characters */
	PARAM_SECRET,		/* the same; no copy of it is left behind */
	PARAM_TEXT,		/* a string of any kind */
	PARAM_NUMBER,		/* a whole number from 0 */
	PARAM_SIZE,		/* the same; so many bytes follow the line */
	PARAM_EITHER,		/* a word or a number */
	PARAM_FLAG,		/* a boolean */
	PARAM_ARGV,		/* an array of strings, quoted as for ARGS */
	PARAM_ENV,		/* an object of strings: KEY=VALUE, each with a NUL */
	PARAM_JSON,		/* an object, passed on; a line ends with it */
	PARAM_KINDS
};

enum param_need {
	PARAM_MUST,
	PARAM_MAY,
	PARAM_OR,		/* may stand in for the one before it */
	PARAM_EXTENSION		/* may, and is not part of the base protocol */
};

struct param {
	const char	*name;		/* NULL ends the list */
	enum param_kind	 kind;
	enum param_need	 need;
	/*
	 * Comes before the value; a blank begins a word.  Without one, the
	 * value is joined to that of the parameter before by what stands here.
	 */
	const char	*before;
};

/* "string", "boolean" and so on, for people. */
const char *param_type(enum param_kind);
/* Whether it must be given, as no other can stand in for it. */
bool	 param_is_needed(const struct param *);
/* Whether the word gives one that is not part of the base protocol. */
bool	 param_is_extension(const struct param *list, const struct word *);

/* -- the parameters of commands.c's rows -- */
extern const struct param	params_none[], params_session[],
    params_upload[], params_start[], params_args[], params_env[],
    params_envdel[], params_range[], params_follow[], params_wait[],
    params_signal[], params_input[], params_name[], params_limits[], params_share[],
    params_unshare[], params_auth[], params_audit[], params_token[],
    params_quota[], params_login[], params_ticket[], params_keys[],
    params_hello[],
    params_new[], params_resize[], params_attach[], params_debugger[],
    params_tracer[], params_mcp[];

#endif
