/* SPDX-License-Identifier: ISC */
/* Requests to tracers: one line there, one line back. */
#include <stdlib.h>
#include <string.h>

#include "client/lib/args.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "trc_ask.h"

/* The daemon passes on what it does not read; -1 after a report. */
static int
request_line(struct line *l, const struct trc_to *to, const char *request)
{
	const char *const words[][2] = {
		{ "session", to->session }, { "name", to->name },
		{ "sandbox", to->sandbox }, { "network", to->network },
	};
	size_t i;

	if (line_word(l, "TRACER") == -1 ||
	    (to->start && line_word(l, "start") == -1))
		return -1;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i][1] != NULL &&
		    line_value(l, words[i][0], words[i][1]) == -1)
			return -1;
	return line_as_it_is(l, request);
}

/* As client_send_line(); takes args. */
static int
send_request(struct client *c, const struct trc_to *to, const char *command,
    struct json_object *args)
{
	struct json_object *o = json_object_new_object();
	struct line l = { 0 };
	size_t len;
	char *text;
	int r;

	json_object_object_add(o, "command", json_object_new_string(command));
	json_object_object_add(o, "args", args);
	text = reply_text(o, &len);
	json_object_put(o);
	if (text == NULL)
		return usage_error("out of memory");
	r = request_line(&l, to, text);
	free(text);
	if (r == 0)
		return client_send_line(c, &l);
	free(l.text);
	return CTL_USAGE;
}

int
trc_try(struct client *c, const struct trc_to *to, const char *request,
    struct json_object *args, struct json_object **resultp)
{
	int code;

	*resultp = NULL;
	if ((code = send_request(c, to, request, args)) != CTL_OK ||
	    (code = client_read(c->conn, resultp)) != CTL_OK)
		return code;
	if (reply_error(*resultp) != NULL)
		return CTL_REFUSED;
	if (json_object_is_type(*resultp, json_type_object))
		return CTL_OK;
	report("the answer to TRACER is no object");
	json_object_put(*resultp);
	*resultp = NULL;
	return CTL_UNREACHABLE;
}

/* The tracer's own error in a refusal, NULL if none. */
static struct json_object *
own_error(struct json_object *answer)
{
	struct json_object *error;

	return json_object_object_get_ex(answer, "error", &error) &&
	    json_object_is_type(error, json_type_object) ? error : NULL;
}

const char *
trc_code(struct json_object *answer)
{
	struct json_object *error = own_error(answer);

	return error != NULL ? reply_str(error, "code", "error") :
	    reply_error(answer);
}

bool
trc_is_nowhere(struct json_object *answer)
{
	static const char *const codes[] = { "not_found", "no_tracer",
		"SESSION_NOT_FOUND", "invalid_id" };
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(trc_code(answer), codes[i]) == 0)
			return true;
	return false;
}

/*
 * A tracer speaks to agents, of tools and arguments of theirs; these are the
 * commands and options that people have here for them.  False: they have none.
 */
static bool
report_ours(const char *code, const char *message)
{
	static const char it_is[] = " It is ";
	const char *name = strstr(message, it_is);
	char next[256];
	int len;

	if (strcmp(code, TRC_NO_SYMBOLS) == 0) {
		report("%s: %s", code, TRC_NO_SYMBOLS_WORDS);
		return true;
	}
	if (strcmp(code, "SESSION_EXISTS") != 0 || name == NULL)
		return false;
	name += sizeof(it_is) - 1;
	len = (int)strcspn(name, ", ");
	report("%s: this program is traced already, or its timeline is still "
	    "there: session %.*s", code, len, name);
	snprintf(next, sizeof(next), "\"" CTL_NAME " trace stop %.*s\" ends "
	    "that; then run it again", len, name);
	report_more(next);
	return true;
}

int
trc_refused(const struct client *c, struct json_object *answer)
{
	struct json_object *error = own_error(answer);
	const char *next = reply_str(error, "next", "");

	if (error == NULL || c->json_errors)
		client_refused(c, answer);
	else if (!report_ours(trc_code(answer), reply_str(error, "message",
	    ""))) {
		report("%s: %s", trc_code(answer), reply_str(error, "message",
		    "no reason given"));
		if (*next != '\0')
			report_more(next);
	}
	json_object_put(answer);
	return CTL_REFUSED;
}

int
trc_ask(struct client *c, const struct trc_to *to, const char *request,
    struct json_object *args, struct json_object **resultp)
{
	int code = trc_try(c, to, request, args, resultp);

	if (code != CTL_REFUSED)
		return code;
	code = trc_refused(c, *resultp);
	*resultp = NULL;
	return code;
}

int
trc_sessions(struct client *c, struct json_object **listp)
{
	int code = client_ask(c, listp, "TRACER", "list", NULL);

	if (code != CTL_OK || json_object_is_type(*listp, json_type_array))
		return code;
	report("the answer to TRACER list is not a list");
	json_object_put(*listp);
	*listp = NULL;
	return CTL_UNREACHABLE;
}
