/* SPDX-License-Identifier: ISC */
/* The parameters of the commands; see the header. */
#include <stddef.h>
#include <string.h>

#include "params.h"

#define END		{ NULL, PARAM_WORD, PARAM_MAY, NULL }
#define SESSION		{ "session", PARAM_WORD, PARAM_MUST, " " }
#define LIMIT(name)	{ name, PARAM_EITHER, PARAM_MAY, " " name "=" }

const struct param params_none[] = { END };
const struct param params_session[] = { SESSION, END };
const struct param params_upload[] = {
	{ "size", PARAM_SIZE, PARAM_MUST, " " },
	{ "exec_path", PARAM_WORD, PARAM_MAY, " " },
	{ "file", PARAM_WORD, PARAM_EXTENSION, " file=" }, END
};
const struct param params_new[] = {
	{ "tty", PARAM_FLAG, PARAM_MAY, " tty" },
	{ "ephemeral", PARAM_FLAG, PARAM_MAY, " ephemeral" },
	{ "cols", PARAM_NUMBER, PARAM_MAY, " cols=" },
	{ "rows", PARAM_NUMBER, PARAM_MAY, " rows=" },
	{ "name", PARAM_WORD, PARAM_MAY, " name=" },
	{ "cwd", PARAM_WORD, PARAM_MAY, " cwd=" },
	{ "env", PARAM_ENV, PARAM_MAY, " env=" },
	{ "start", PARAM_WORD, PARAM_MAY, " start=" },
	{ "argv", PARAM_ARGV, PARAM_MAY, " -- " }, END
};
const struct param params_resize[] = {
	SESSION,
	{ "cols", PARAM_NUMBER, PARAM_MUST, " " },
	{ "rows", PARAM_NUMBER, PARAM_MUST, " " }, END
};
const struct param params_start[] = {
	SESSION,
	{ "debug", PARAM_FLAG, PARAM_MAY, " --debug" },
	{ "split", PARAM_FLAG, PARAM_EXTENSION, " --split" },
	{ "sandbox", PARAM_WORD, PARAM_EXTENSION, " --sandbox " },
	{ "network", PARAM_WORD, PARAM_EXTENSION, " --network " },
	{ "tty", PARAM_FLAG, PARAM_EXTENSION, " --tty" },
	{ "cols", PARAM_NUMBER, PARAM_EXTENSION, " cols=" },
	{ "rows", PARAM_NUMBER, PARAM_EXTENSION, " rows=" }, END
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
	{ "base64", PARAM_FLAG, PARAM_EXTENSION, " base64" }, END
};
const struct param params_follow[] = {
	SESSION,
	{ "offset", PARAM_NUMBER, PARAM_MAY, " " },
	{ "base64", PARAM_FLAG, PARAM_MAY, " base64" },
	{ "hold", PARAM_FLAG, PARAM_MAY, " hold" }, END
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
const struct param params_hello[] = {
	{ "nonce", PARAM_WORD, PARAM_MAY, " " }, END
};
const struct param params_token[] = {
	{ "action", PARAM_WORD, PARAM_MUST, " " },
	{ "id", PARAM_WORD, PARAM_MAY, " " },
	{ "user", PARAM_WORD, PARAM_MAY, " user=" },
	{ "read_only", PARAM_FLAG, PARAM_MAY, " read-only" },
	{ "expires", PARAM_NUMBER, PARAM_MAY, " expires=" },
	{ "label", PARAM_WORD, PARAM_MAY, " label=" }, END
};
const struct param params_login[] = {
	{ "action", PARAM_WORD, PARAM_MUST, " " }, END
};
const struct param params_ticket[] = {
	SESSION,
	{ "read_only", PARAM_FLAG, PARAM_MAY, " ro" },
	{ "role", PARAM_WORD, PARAM_OR, " role=" }, END
};
const struct param params_keys[] = {
	SESSION,
	{ "rotate", PARAM_FLAG, PARAM_MAY, " rotate" }, END
};
const struct param params_attach[] = {
	SESSION,
	{ "from", PARAM_NUMBER, PARAM_MAY, " from=" },
	{ "read_only", PARAM_FLAG, PARAM_MAY, " ro" },
	{ "cols", PARAM_NUMBER, PARAM_MAY, " cols=" },
	{ "rows", PARAM_NUMBER, PARAM_MAY, " rows=" }, END
};
const struct param params_debugger[] = {
	{ "session", PARAM_WORD, PARAM_MAY, " session=" },
	{ "start", PARAM_FLAG, PARAM_MAY, " start" },
	{ "list", PARAM_FLAG, PARAM_MAY, " list" },
	{ "use", PARAM_FLAG, PARAM_MAY, " use" },
	{ "name", PARAM_WORD, PARAM_MAY, " name=" },
	{ "image", PARAM_WORD, PARAM_MAY, " image=" },
	{ "sandbox", PARAM_WORD, PARAM_MAY, " sandbox=" },
	{ "network", PARAM_WORD, PARAM_MAY, " network=" },
	{ "request", PARAM_JSON, PARAM_MAY, " " }, END
};
const struct param params_tracer[] = {
	{ "session", PARAM_WORD, PARAM_MAY, " session=" },
	{ "start", PARAM_FLAG, PARAM_MAY, " start" },
	{ "list", PARAM_FLAG, PARAM_MAY, " list" },
	{ "name", PARAM_WORD, PARAM_MAY, " name=" },
	{ "sandbox", PARAM_WORD, PARAM_MAY, " sandbox=" },
	{ "network", PARAM_WORD, PARAM_MAY, " network=" },
	{ "request", PARAM_JSON, PARAM_MAY, " " }, END
};
const struct param params_mcp[] = {
	{ "request", PARAM_JSON, PARAM_MUST, " " }, END
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
		[PARAM_ENV] = "object of strings",
		[PARAM_JSON] = "object",
	};

	return types[kind];
}

bool
param_is_needed(const struct param *p)
{
	return p->need == PARAM_MUST &&
	    (p[1].name == NULL || p[1].need != PARAM_OR);
}

/* " --tty" and " --sandbox " are the word itself, " cols=" its beginning. */
static bool
is_given_by(const struct param *p, const struct word *w)
{
	const char *name = p->before + 1;
	size_t len = strcspn(name, " ");

	return w->len >= len && memcmp(w->p, name, len) == 0 &&
	    (w->len == len || name[len - 1] == '=');
}

bool
param_is_extension(const struct param *list, const struct word *w)
{
	for (; list->name != NULL; list++)
		if (list->need == PARAM_EXTENSION && is_given_by(list, w))
			return true;
	return false;
}
