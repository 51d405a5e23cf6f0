/* SPDX-License-Identifier: ISC */
/* gdb: one command from a session in whatever state to a gdb that is
 * connected to it and knows its symbols. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic.h"
#include "client/lib/client.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "gdb.h"
#include "open.h"
#include "relay.h"
#include "secret.h"
#include "switches.h"

/*
 * gdb hands this to a shell. It is the same text every time: what varies,
 * and comes from elsewhere, travels in the environment.
 */
#define PIPE_COMMAND	"target remote | exec \"$DEBUGLANTERN_CTL\"" \
			    " gdb-pipe \"$DEBUGLANTERN_SESSION\""

/*
 * An image in memory has no path that gdb could find by itself, but its
 * process has one. Its number is gdbserver's, not the daemon's.
 */
#define FETCH_SYMBOLS	"python gdb.current_progspace().filename or " \
			    "gdb.execute('file target:/proc/%d/exe' % " \
			    "gdb.selected_inferior().pid)"

/*
 * Sees to a gdbserver for the session, but for a running one that gdb-pipe
 * will be attached to. The answer is the caller's to put.
 */
static int
attach(struct client *c, const char *id, struct json_object **jsonp)
{
	const char *state;
	int code;

	if ((code = client_ask(c, jsonp, "STATUS", id, NULL)) != CTL_OK)
		return code;
	state = reply_str(*jsonp, "state", "");
	if (strcmp(state, "DEBUGGING") == 0 ||
	    (strcmp(state, "RUNNING") == 0 &&
	    !opt_given(&c->opts, OPT_PORT)))
		return CTL_OK;
	if (strcmp(state, "RUNNING") == 0) {
		json_object_put(*jsonp);
		return client_ask(c, jsonp, "DEBUG", id, NULL);
	}
	json_object_put(*jsonp);
	return start_session(c, id, "--debug", jsonp);
}

/* The path of this program, for the gdb that will start it again. */
static int
set_environment(const struct client *c, const char *id)
{
	char self[4096], target[TARGET_TEXT];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n == -1)
		return usage_error("/proc/self/exe: %s", strerror(errno));
	self[n] = '\0';
	if (setenv("DEBUGLANTERN_CTL", self, 1) == -1 ||
	    setenv("DEBUGLANTERN_SESSION", id, 1) == -1 ||
	    setenv("DEBUGLANTERN_TARGET", target_text(&c->target, target),
	    1) == -1 || options_export(&c->opts, OPT_TARGET) == -1)
		return usage_error("setenv: %s", strerror(errno));
	secret_export();
	return CTL_OK;
}

/* Where the debug port of a session is: who came by the local socket finds
 * it on loopback. */
static void
debug_host(const struct target *t, struct target *host)
{
	*host = *t;
	if (t->kind == TARGET_UNIX)
		target_no_socket(host);
}

/* The gdb command that connects; NULL after a report. The caller frees it. */
static char *
connect_command(const struct client *c, struct json_object *session)
{
	char target[TARGET_TEXT], *text, *colon;
	struct target host;
	int64_t port;

	if (!opt_given(&c->opts, OPT_PORT))
		return strdup(PIPE_COMMAND);
	if (c->target.kind == TARGET_SSH || c->target.kind == TARGET_TLS) {
		report("the debug port has neither ssh nor TLS; leave --port "
		    "out");
		return NULL;
	}
	if (!reply_int(session, "debug_port", &port) || port < 1 ||
	    port > 65535) {
		report("the session has no debug port; leave --port out");
		return NULL;
	}
	debug_host(&c->target, &host);
	target_text(&host, target);
	if ((colon = strrchr(target, ':')) != NULL)
		*colon = '\0';
	if (asprintf(&text, "target remote %s:%" PRId64, target, port) == -1)
		return NULL;
	return text;
}

static void
exec_gdb(const struct client *c, const char *connect, int argc, char **argv)
{
	const char *symbols = c->opts.value[OPT_SYMBOLS];
	const char *sysroot = c->opts.value[OPT_SYSROOT];
	char *set_sysroot = NULL, **gdb_argv;
	const char **next;
	int i;

	gdb_argv = calloc((size_t)argc + 12, sizeof(*gdb_argv));
	if (gdb_argv == NULL || asprintf(&set_sysroot, "set sysroot %s",
	    sysroot != NULL ? sysroot : "target:") == -1) {
		report("out of memory");
		free(gdb_argv);
		return;
	}
	next = (const char **)gdb_argv;
	*next++ = "gdb";
	*next++ = "-q";
	if (symbols != NULL)
		*next++ = symbols;
	*next++ = "-ex";
	*next++ = set_sysroot;
	*next++ = "-ex";
	*next++ = connect;
	if (symbols == NULL) {
		*next++ = "-ex";
		*next++ = FETCH_SYMBOLS;
	}
	for (i = 0; i < argc; i++)
		*next++ = argv[i];
	signal(SIGPIPE, SIG_DFL);
	execvp("gdb", gdb_argv);
	report("cannot start gdb: %s%s", strerror(errno), errno == ENOENT ?
	    "; is it installed?" : "");
	free(gdb_argv);
	free(set_sysroot);
}

int
ctl_gdb(struct client *c, int argc, char **argv)
{
	const char *symbols = c->opts.value[OPT_SYMBOLS];
	struct json_object *session;
	char *connect = NULL;
	int code;

	if (symbols != NULL && access(symbols, R_OK) == -1)
		return usage_error("%s: %s", symbols, strerror(errno));
	if ((code = attach(c, argv[0], &session)) != CTL_OK)
		return code;
	if ((code = set_environment(c, reply_str(session, "id",
	    argv[0]))) == CTL_OK) {
		connect = connect_command(c, session);
		if (connect != NULL)
			exec_gdb(c, connect, argc - 1, argv + 1);
		code = CTL_USAGE;
	}
	free(connect);
	json_object_put(session);
	return code;
}

/*
 * A session that was started under gdbserver, or that DEBUG was used on, has
 * its gdbserver at a port of the same host already.
 */
static int
pipe_to_port(struct client *c, const char *id)
{
	struct json_object *session;
	struct target target;
	struct conn *conn;
	int64_t port;
	int code;

	if ((code = client_ask(c, &session, "STATUS", id, NULL)) != CTL_OK)
		return code;
	if (!reply_int(session, "debug_port", &port) || port < 1 ||
	    port > 65535) {
		report("another debugger is attached to the session");
		json_object_put(session);
		return CTL_REFUSED;
	}
	json_object_put(session);
	if (c->target.kind == TARGET_TLS || c->target.kind == TARGET_SSH) {
		report("the session's debug port cannot be reached by TLS or "
		    "ssh; end the debugger there");
		return CTL_REFUSED;
	}
	debug_host(&c->target, &target);
	snprintf(target.port, sizeof(target.port), "%" PRId64, port);
	code = conn_open(&conn, &target, &c->trust, c->timeout_s);
	if (code != CTL_OK)
		return code;
	code = relay(conn, STDIN_FILENO, STDOUT_FILENO, false, "gdbserver");
	dconn_close(conn);
	return code;
}

int
ctl_gdb_pipe(struct client *c, int argc, char **argv)
{
	struct json_object *answer;
	const char *error;
	int code;

	(void)argc;
	if (isatty(STDIN_FILENO))
		return usage_error("standard input is a terminal; this is "
		    "for gdb: target remote | %s gdb-pipe %s", CTL_NAME,
		    argv[0]);
	/* gdb's Ctrl-C reaches us too and is not meant for us. */
	signal(SIGINT, SIG_IGN);
	if ((code = client_send(c, "GDBPIPE", argv[0], NULL)) != CTL_OK ||
	    (code = client_read(c->conn, &answer)) != CTL_OK)
		return code;
	if ((error = reply_error(answer)) == NULL)
		code = relay(c->conn, STDIN_FILENO, STDOUT_FILENO, false,
		    "gdbserver");
	else if (strcmp(error, "already_debugging") == 0)
		code = pipe_to_port(c, argv[0]);
	else {
		client_refused(c, answer);
		code = CTL_REFUSED;
	}
	json_object_put(answer);
	return code;
}
