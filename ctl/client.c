/* SPDX-License-Identifier: ISC */
/* Question and answer with the daemon. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "reply.h"
#include "report.h"

struct conn *
client_open(const struct client *c)
{
	return conn_open(&c->target, c->timeout_s);
}

int
client_connect(struct client *c)
{
	if (c->conn == NULL && (c->conn = client_open(c)) == NULL)
		return CTL_UNREACHABLE;
	return CTL_OK;
}

int
client_send_line(struct client *c, struct line *l)
{
	int code = CTL_USAGE;

	if (line_end(l) == -1)
		goto done;
	if ((code = client_connect(c)) != CTL_OK)
		goto done;
	if (conn_send(c->conn, l->text, l->len) == -1) {
		/* The daemon may have said why before it closed. */
		if (errno == EPIPE || errno == ECONNRESET)
			goto done;
		report("cannot send the command: %s", strerror(errno));
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
	if ((text = conn_line(conn, &len)) == NULL)
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
	reply_report(*jsonp, c->json_errors);
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
