/* SPDX-License-Identifier: ISC */
/* How a connection of a command begins: it is opened, and logged in on by a
 * token where there is one for the target; without, TCP begins with HELLO. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/client.h"
#include "client/lib/conn.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "commands.h"
#include "login.h"
#include "open.h"
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
		report("warning: the token goes to %s without TLS; others on "
		    "the network can read and use it", target);
	else
		report("warning: %s is reached without TLS: others on the "
		    "network can read and change what is sent", target);
}

/* Whether a token may be sent there. */
static int
check_private(const struct client *c, const struct conn *conn, bool token)
{
	char target[TARGET_TEXT];

	if (dconn_is_private(conn))
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
	if (!dconn_is_here(conn))
		secret_hide();
	if ((code = check_private(c, conn, true)) != CTL_OK)
		return code;
	snprintf(line, sizeof(line), "AUTH %s\n", token);
	if (dconn_send(conn, line, strlen(line)) == -1 && errno != EPIPE &&
	    errno != ECONNRESET) {
		report("cannot log in: %s", dconn_strerror(conn));
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

static int
hello_line(struct conn *conn, const char *nonce, struct json_object **jsonp)
{
	char line[128];
	int n;

	*jsonp = NULL;
	n = snprintf(line, sizeof(line), "HELLO%s%s\n", *nonce != '\0' ? " " :
	    "", nonce);
	if ((size_t)n >= sizeof(line)) {
		report("the daemon's nonce is too long: %.40s...", nonce);
		return CTL_UNREACHABLE;
	}
	if (dconn_send(conn, line, (size_t)n) == -1 && errno != EPIPE &&
	    errno != ECONNRESET) {
		report("cannot send the first line: %s", dconn_strerror(conn));
		return CTL_UNREACHABLE;
	}
	return client_read(conn, jsonp);
}

/*
 * Shows the daemon that answers are read here: on TCP it accepts most commands
 * only after that.  A daemon that does not know HELLO accepts all commands at
 * once.
 */
static int
say_hello(const struct client *c, struct conn *conn)
{
	struct json_object *answer, *opened;
	const char *nonce, *error;
	int code;

	if ((code = hello_line(conn, "", &answer)) != CTL_OK)
		return code;
	if ((error = reply_error(answer)) != NULL) {
		if (strcmp(error, "unknown_command") != 0) {
			client_refused(c, answer);
			code = CTL_REFUSED;
		}
		json_object_put(answer);
		return code;
	}
	nonce = reply_str(answer, "nonce", "");
	if (*nonce == '\0' || strspn(nonce, "0123456789abcdef") !=
	    strlen(nonce)) {
		report("the answer to HELLO has no nonce; is this the control "
		    "port of debuglanternd?");
		json_object_put(answer);
		return CTL_UNREACHABLE;
	}
	code = hello_line(conn, nonce, &opened);
	json_object_put(answer);
	if (code == CTL_OK && reply_error(opened) != NULL) {
		client_refused(c, opened);
		code = CTL_REFUSED;
	}
	json_object_put(opened);
	return code;
}

int
client_greet(struct client *c, struct conn *conn)
{
	struct json_object *answer = NULL;
	char target[TARGET_TEXT];
	const char *token;
	int code;

	target_text(&c->target, target);
	code = secret_for(&c->opts, target, &token);
	if (code == CTL_OK && token != NULL)
		code = client_log_in(c, conn, token, &answer);
	else if (code == CTL_OK) {
		code = check_private(c, conn, false);
		if (code == CTL_OK && (c->target.kind == TARGET_PLAIN ||
		    c->target.kind == TARGET_TLS))
			code = say_hello(c, conn);
	}
	json_object_put(answer);
	return code;
}

int
login_open(struct client *c, struct conn **connp)
{
	int code;

	secret_expose();
	code = conn_open(connp, &c->target, &c->trust, c->timeout_s);
	if (code != CTL_OK || c->command->anonymous)
		return code;
	if ((code = client_greet(c, *connp)) != CTL_OK) {
		dconn_close(*connp);
		*connp = NULL;
	}
	return code;
}
