/* SPDX-License-Identifier: ISC */
/* The parameters of the commands; see the header. */
#include <stddef.h>

#include "params.h"

#define END		{ NULL, PARAM_WORD, PARAM_MAY, NULL }
#define SESSION		{ "session", PARAM_WORD, PARAM_MUST, " " }
#define LIMIT(name)	{ name, PARAM_EITHER, PARAM_MAY, " " name "=" }

const struct param params_none[] = { END };
const struct param params_session[] = { SESSION, END };
const struct param params_upload[] = {
	{ "size", PARAM_SIZE, PARAM_MUST, " " },
	{ "exec_path", PARAM_WORD, PARAM_MAY, " " }, END
};
const struct param params_start[] = {
	SESSION,
	{ "debug", PARAM_FLAG, PARAM_MAY, " --debug" },
	{ "split", PARAM_FLAG, PARAM_MAY, " --split" },
	{ "sandbox", PARAM_WORD, PARAM_MAY, " --sandbox " },
	{ "network", PARAM_WORD, PARAM_MAY, " --network " }, END
};
const struct param params_args[] = {
	SESSION,
	{ "argv", PARAM_ARGV, PARAM_MAY, " " },
	{ "text", PARAM_TEXT, PARAM_OR, " " }, END
};
const struct param params_env[] = {
	SESSION,
	{ "key", PARAM_WORD, PARAM_MUST, " " },
	{ "value", PARAM_TEXT, PARAM_MUST, "=" }, END
};
const struct param params_envdel[] = {
	SESSION,
	{ "key", PARAM_WORD, PARAM_MUST, " " }, END
};
const struct param params_range[] = {
	SESSION,
	{ "offset", PARAM_NUMBER, PARAM_MAY, " " },
	{ "base64", PARAM_FLAG, PARAM_MAY, " base64" }, END
};
const struct param params_wait[] = {
	SESSION,
	{ "seconds", PARAM_NUMBER, PARAM_MAY, " " }, END
};
const struct param params_signal[] = {
	SESSION,
	{ "signal", PARAM_EITHER, PARAM_MUST, " " }, END
};
const struct param params_input[] = {
	SESSION,
	{ "size", PARAM_SIZE, PARAM_MUST, " " },
	{ "eof", PARAM_FLAG, PARAM_OR, " eof" }, END
};
const struct param params_name[] = {
	SESSION,
	{ "label", PARAM_WORD, PARAM_MAY, " " }, END
};
const struct param params_limits[] = {
	SESSION,
	LIMIT("cpu"), LIMIT("as"), LIMIT("nofile"), LIMIT("nproc"),
	LIMIT("core"), END
};
const struct param params_share[] = {
	SESSION,
	{ "user", PARAM_WORD, PARAM_MUST, " " },
	{ "access", PARAM_WORD, PARAM_MAY, ":" }, END
};
const struct param params_unshare[] = {
	SESSION,
	{ "user", PARAM_WORD, PARAM_MUST, " " }, END
};
const struct param params_auth[] = {
	{ "token", PARAM_SECRET, PARAM_MUST, " " }, END
};
const struct param params_token[] = {
	{ "action", PARAM_WORD, PARAM_MUST, " " },
	{ "id", PARAM_WORD, PARAM_MAY, " " },
	{ "user", PARAM_WORD, PARAM_MAY, " user=" },
	{ "read_only", PARAM_FLAG, PARAM_MAY, " read-only" },
	{ "expires", PARAM_NUMBER, PARAM_MAY, " expires=" },
	{ "label", PARAM_WORD, PARAM_MAY, " label=" }, END
};
const struct param params_quota[] = {
	{ "user", PARAM_WORD, PARAM_MAY, " " }, END
};
const struct param params_audit[] = {
	{ "from", PARAM_NUMBER, PARAM_MAY, " " },
	{ "seconds", PARAM_NUMBER, PARAM_MAY, " " }, END
};

const char *
param_type(enum param_kind kind)
{
	static const char *const types[PARAM_KINDS] = {
		[PARAM_WORD] = "string",
		[PARAM_SECRET] = "string",
		[PARAM_TEXT] = "string",
		[PARAM_NUMBER] = "number",
		[PARAM_SIZE] = "number",
		[PARAM_EITHER] = "string or number",
		[PARAM_FLAG] = "boolean",
		[PARAM_ARGV] = "array of strings",
	};

	return types[kind];
}

bool
param_is_needed(const struct param *p)
{
	return p->need == PARAM_MUST &&
	    (p[1].name == NULL || p[1].need != PARAM_OR);
}
