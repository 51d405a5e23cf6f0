/* SPDX-License-Identifier: ISC */
/* links: netproc/ !netproc/main.c common/ !common/wire/dispatch.c */
/* covers: netproc/cmd/request.c netproc/cmd/params.c netproc/text/jsonlex.c */
/*
 * Fuzz target of requests in JSON, with the daemon's own table of commands.
 * An accepted request must be words that the row of its command expects, and
 * say what json-c by itself reads in the same text.
 */
#include <json-c/json.h>

#include "regress/fuzz/fuzz.h"

#include "base/errors.h"
#include "base/json.h"
#include "netproc/cmd/commands.h"
#include "netproc/cmd/params.h"
#include "netproc/cmd/request.h"
#include "netproc/mcp/mcp.h"
#include "netproc/term/attach.h"
#include "netproc/text/jsonlex.h"
#include "wire/proto.h"

#define SELF_ROLE NETPROC
#include "common/wire/dispatch.c"

/* Every row can be used by name, and its session is always called that. */
static void
check_table(void)
{
	const struct command *cmd;
	const struct param *p;
	size_t i;

	for (i = 0; (cmd = command_at(i)) != NULL; i++) {
		p = cmd->params;
		must(p != NULL);
		if (cmd->session)
			must(p->name != NULL &&
			    strcmp(p->name, "session") == 0 &&
			    param_is_needed(p));
		for (; p->name != NULL; p++)
			must(p->before != NULL && p->before[0] != '\0' &&
			    p->kind < PARAM_KINDS);
	}
}

static void
check_words(const struct request *r)
{
	const struct words *ws = &r->words;
	const char *at;
	size_t i;

	must(ws->n >= 1 && ws->n <= WORDS_MAX);
	must(word_is(&ws->w[0], r->cmd->verb));
	must(ws->n - 1 >= r->cmd->min && ws->n - 1 <= r->cmd->max);
	at = ws->w[0].p;
	must(memchr(at, '\0', (size_t)(ws->end - at)) == NULL);
	/* one after the other, a blank between them, the last to the end */
	for (i = 0; i < ws->n; i++) {
		must(ws->w[i].p == at);
		at += ws->w[i].len;
		if (i + 1 < ws->n)
			must(*at++ == ' ');
	}
	must(at == ws->end);
}

static struct json_object *
member(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	(void)json_object_object_get_ex(o, name, &v);
	return v;
}

/* The strings of argv are those that the command will have. */
static void
check_argv(const struct request *r, struct json_object *argv)
{
	static char vec[LINE_BUFFER * 2];
	struct word rest = line_rest(&r->words, 2);
	struct json_object *s;
	size_t len, at = 0, i, n;

	must(args_split(&rest, vec, sizeof(vec), &len) == NULL);
	for (i = 0; i < json_object_array_length(argv); i++) {
		s = json_object_array_get_idx(argv, i);
		n = (size_t)json_object_get_string_len(s);
		must(at + n < len && vec[at + n] == '\0');
		must(memcmp(vec + at, json_object_get_string(s), n) == 0);
		at += n + 1;
	}
	must(at == len);
}

static void
check_variable(const struct request *r, struct json_object *args)
{
	struct word rest = line_rest(&r->words, 2);
	const char *key = json_object_get_string(member(args, "key"));
	const char *value = json_object_get_string(member(args, "value"));
	size_t eq, n = strlen(key);

	must(rest.len == n + 1 + strlen(value));
	must(memcmp(rest.p, key, n) == 0 && rest.p[n] == '=' &&
	    memcmp(rest.p + n + 1, value, strlen(value)) == 0);
	if (env_check(&rest, &eq) == NULL)
		must(eq == n);
}

static void
check_id(const struct request *r, struct json_object *id)
{
	const char *s = json_object_get_string(id);

	if (s == NULL) {
		must(r->reply.len == 0 && !r->reply.text);
		return;
	}
	must(r->reply.len == strlen(s) && r->reply.len <= REQUEST_ID_MAX);
	must(memcmp(r->reply.id, s, r->reply.len) == 0);
	must(r->reply.text == json_object_is_type(id, json_type_string));
}

static bool
passes_on(const struct command *cmd)
{
	const struct param *p = cmd->params;

	while (p->name != NULL && p->kind != PARAM_JSON)
		p++;
	return p->name != NULL;
}

static void
check_accepted(const struct request *r, const char *p, size_t len)
{
	struct json_tokener *t = json_tokener_new();
	struct json_object *o, *args, *argv;

	must(t != NULL);
	o = json_tokener_parse_ex(t, p, (int)len);
	/* what is passed on unread need be no JSON, or nest deeper */
	if (o == NULL && passes_on(r->cmd)) {
		json_tokener_free(t);
		return;
	}
	must(json_object_is_type(o, json_type_object));
	args = member(o, "args");
	check_id(r, member(o, "id"));
	check_words(r);
	argv = member(args, "argv");
	if (strcmp(r->cmd->verb, "ARGS") == 0 && argv != NULL)
		check_argv(r, argv);
	if (strcmp(r->cmd->verb, "ENV") == 0)
		check_variable(r, args);
	json_object_put(o);
	json_tokener_free(t);
}

static void
check_refused(const struct request *r)
{
	static struct text text = { .max = 1 << 16 };

	must(r->err < ERR_COUNT);
	must(r->err == ERR_UNKNOWN_COMMAND || r->why[0] != '\0');
	must(r->err != ERR_INVALID_JSON ||
	    (r->reply.len == 0 && r->follows != FOLLOWS_SIZE));
	text_reset(&text, 1 << 16);
	json_text(&text, r->why);
	must(!text.bad);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	/* of its own, so that a byte too many is noticed */
	const char *nl = size == 0 ? NULL : memchr(data, '\n', size);
	size_t len = nl == NULL ? size : (size_t)(nl - (const char *)data);
	struct request r;
	char *line;

	if (!ready) {
		request_init();
		command_init();
		attach_init();
		mcp_init();
		check_table();
		ready = true;
	}
	if (len > LINE_MAX_BYTES)
		return 0;
	line = malloc(len == 0 ? 1 : len);
	must(line != NULL);
	memcpy(line, data, len);
	request_parse(line, len, &r);
	must(r.reply.form == REPLY_JSON);
	if (r.err == ERR_OK)
		check_accepted(&r, line, len);
	else
		check_refused(&r);
	free(line);
	return 0;
}
