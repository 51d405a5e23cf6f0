/* SPDX-License-Identifier: ISC */
/* Question and answer with the daemon. */
#include <bsd/string.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "reply.h"
#include "report.h"

int
client_connect(struct client *c)
{
	return c->conn != NULL ? CTL_OK : client_open(c, &c->conn);
}

int
client_open(struct client *c, struct conn **connp)
{
	return c->open(c, connp);
}

void
client_refused(const struct client *c, struct json_object *answer)
{
	c->refused(c, answer);
}

void
client_again(struct client *c)
{
	if (c->conn == NULL || !dconn_is_over(c->conn))
		return;
	dconn_close(c->conn);
	c->conn = NULL;
}

int
client_send_line(struct client *c, struct line *l)
{
	int code = CTL_USAGE;

	/* looked at first: what cannot be sent needs no connection */
	if (line_end(l) == -1)
		goto done;
	strlcpy(c->sent, l->text, sizeof(c->sent));
	c->sent[strcspn(c->sent, "\n")] = '\0';
	if ((code = client_connect(c)) != CTL_OK)
		goto done;
	if (dconn_send(c->conn, l->text, l->len) == -1) {
		/* The daemon may have said why before it closed. */
		if (errno == EPIPE || errno == ECONNRESET)
			goto done;
		report("cannot send the command: %s",
		    dconn_strerror(c->conn));
		code = CTL_UNREACHABLE;
	}
done:
	free(l->text);
	l->text = NULL;
	return code;
}

static int
send_words(struct client *c, const char *verb, va_list ap)
{
	struct line l = { 0 };
	const char *word;

	for (word = verb; word != NULL; word = va_arg(ap, const char *)) {
		if (line_word(&l, word) == -1) {
			free(l.text);
			return CTL_USAGE;
		}
	}
	return client_send_line(c, &l);
}

int
client_send(struct client *c, const char *verb, ...)
{
	va_list ap;
	int code;

	va_start(ap, verb);
	code = send_words(c, verb, ap);
	va_end(ap);
	return code;
}

int
client_read(struct conn *conn, struct json_object **jsonp)
{
	char *text;
	size_t len;

	*jsonp = NULL;
	if ((text = dconn_line(conn, &len)) == NULL)
		return CTL_UNREACHABLE;
	if ((*jsonp = reply_parse(text, len)) != NULL)
		return CTL_OK;
	report("the answer is not JSON: %.60s%s; is this the control port of "
	    "debuglanternd?", text, len > 60 ? "..." : "");
	return CTL_UNREACHABLE;
}

int
client_answer(struct client *c, struct json_object **jsonp)
{
	int code;

	if ((code = client_read(c->conn, jsonp)) != CTL_OK ||
	    reply_error(*jsonp) == NULL)
		return code;
	client_refused(c, *jsonp);
	json_object_put(*jsonp);
	*jsonp = NULL;
	return CTL_REFUSED;
}

int
client_ask(struct client *c, struct json_object **jsonp, const char *verb,
    ...)
{
	va_list ap;
	int code;

	*jsonp = NULL;
	va_start(ap, verb);
	code = send_words(c, verb, ap);
	va_end(ap);
	return code == CTL_OK ? client_answer(c, jsonp) : code;
}

int
client_extends(struct client *c, const char *extension, bool *has)
{
	struct json_object *json, *list, *one;
	size_t i;
	int code = client_ask(c, &json, "VERSION", NULL);

	*has = false;
	if (code != CTL_OK)
		return code;
	if (json_object_object_get_ex(json, "extensions", &list) &&
	    json_object_is_type(list, json_type_array))
		for (i = 0; i < json_object_array_length(list); i++) {
			one = json_object_array_get_idx(list, i);
			if (json_object_is_type(one, json_type_string) &&
			    strcmp(json_object_get_string(one),
			    extension) == 0)
				*has = true;
		}
	json_object_put(json);
	return CTL_OK;
}

/* The line of a request; takes args. */
static int
send_request(struct client *c, const char *command, struct json_object *args)
{
	struct json_object *o = json_object_new_object();
	struct line l = { 0 };

	json_object_object_add(o, "command", json_object_new_string(command));
	json_object_object_add(o, "args", args);
	l.text = reply_text(o, &l.len);
	json_object_put(o);
	return l.text == NULL ? usage_error("out of memory") :
	    client_send_line(c, &l);
}

/* The error of a request as those of commands look. */
static void
report_error(const struct client *c, struct json_object *answer)
{
	struct json_object *o = json_object_new_object(), *error = NULL;

	json_object_object_get_ex(answer, "error", &error);
	json_object_object_add(o, "ok", json_object_new_boolean(0));
	json_object_object_add(o, "error_code", json_object_new_string(
	    reply_str(error, "code", "error")));
	json_object_object_add(o, "message", json_object_new_string(
	    reply_str(error, "message", "no reason given")));
	client_refused(c, o);
	json_object_put(o);
}

int
client_request(struct client *c, const char *command,
    struct json_object *args, struct json_object **resultp)
{
	struct json_object *answer, *success, *result;
	int code;

	*resultp = NULL;
	if ((code = send_request(c, command, args)) != CTL_OK ||
	    (code = client_answer(c, &answer)) != CTL_OK)
		return code;
	if (!json_object_object_get_ex(answer, "success", &success) ||
	    !json_object_get_boolean(success)) {
		report_error(c, answer);
		code = CTL_REFUSED;
	} else if (!json_object_object_get_ex(answer, "result", &result) ||
	    !json_object_is_type(result, json_type_object)) {
		report("the answer has no result in it");
		code = CTL_UNREACHABLE;
	} else
		*resultp = json_object_get(result);
	json_object_put(answer);
	return code;
}

int
client_show(const struct client *c, struct json_object *json,
    void (*print)(struct json_object *, FILE *))
{
	if (c->json)
		reply_print(json, stdout);
	else
		print(json, stdout);
	json_object_put(json);
	return report_flush();
}
