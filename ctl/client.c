/* SPDX-License-Identifier: ISC */
/* Question and answer with the daemon. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "commands.h"
#include "reply.h"
#include "report.h"
#include "secret.h"

/* Once is enough, however many connections a command makes. */
static void
warn_plain(const struct client *c, const char *target, bool token)
{
	static bool warned;
	bool accepted = opt_value(&c->opts, OPT_PLAIN) != NULL;

	if (warned || (accepted && !token))
		return;
	warned = true;
	if (token)
		report("warning: the token goes to %s without TLS; who reads "
		    "it on its way has it", target);
	else
		report("warning: %s is reached without TLS: others on the "
		    "network can read and change what is sent", target);
}

/* Whether a token may be sent there. */
static int
check_private(const struct client *c, const struct conn *conn, bool token)
{
	char target[TARGET_TEXT];

	if (conn_is_private(conn))
		return CTL_OK;
	target_text(&c->target, target);
	if (token && opt_value(&c->opts, OPT_PLAIN) == NULL)
		return usage_error("the token is not sent to %s without TLS: "
		    "use tls:// or ssh://, or --plain if everybody on the "
		    "network may have it", target);
	warn_plain(c, target, token);
	return CTL_OK;
}

int
client_log_in(struct client *c, struct conn *conn, const char *token,
    struct json_object **jsonp)
{
	char line[TOKEN_TEXT + 8];
	int code;

	*jsonp = NULL;
	/* A daemon that is here may look at us until it has answered. */
	if (!conn_is_here(conn))
		secret_hide();
	if ((code = check_private(c, conn, true)) != CTL_OK)
		return code;
	snprintf(line, sizeof(line), "AUTH %s\n", token);
	if (conn_send(conn, line, strlen(line)) == -1 && errno != EPIPE &&
	    errno != ECONNRESET) {
		report("cannot log in: %s", conn_strerror(conn));
		code = CTL_UNREACHABLE;
	}
	explicit_bzero(line, sizeof(line));
	if (code == CTL_OK)
		code = client_read(conn, jsonp);
	secret_hide();
	if (code != CTL_OK || reply_error(*jsonp) == NULL)
		return code;
	reply_report(*jsonp, c->json_errors);
	json_object_put(*jsonp);
	*jsonp = NULL;
	return CTL_REFUSED;
}

int
client_open(struct client *c, struct conn **connp)
{
	struct json_object *answer = NULL;
	char target[TARGET_TEXT];
	const char *token;
	int code;

	secret_expose();
	code = conn_open(connp, &c->target, &c->trust, c->timeout_s);
	if (code != CTL_OK || c->command->anonymous)
		return code;
	target_text(&c->target, target);
	code = secret_for(&c->opts, target, &token);
	if (code == CTL_OK && token != NULL)
		code = client_log_in(c, *connp, token, &answer);
	else if (code == CTL_OK)
		code = check_private(c, *connp, false);
	json_object_put(answer);
	if (code != CTL_OK) {
		conn_close(*connp);
		*connp = NULL;
	}
	return code;
}

int
client_connect(struct client *c)
{
	return c->conn != NULL ? CTL_OK : client_open(c, &c->conn);
}

int
client_send_line(struct client *c, struct line *l)
{
	int code = CTL_USAGE;

	/* looked at first: what cannot be sent needs no connection */
	if (line_end(l) == -1)
		goto done;
	if ((code = client_connect(c)) != CTL_OK)
		goto done;
	if (conn_send(c->conn, l->text, l->len) == -1) {
		/* The daemon may have said why before it closed. */
		if (errno == EPIPE || errno == ECONNRESET)
			goto done;
		report("cannot send the command: %s",
		    conn_strerror(c->conn));
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
