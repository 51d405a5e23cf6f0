/* SPDX-License-Identifier: ISC */
/* The rows of most commands, and the way from a line to its row. */
#include <string.h>

#include "about.h"
#include "audit.h"
#include "auth.h"
#include "commands.h"
#include "debug_port.h"
#include "hello.h"
#include "instrument_kinds.h"
#include "keys.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/output.h"
#include "netproc/conn/replica.h"
#include "netproc/conn/sysroot.h"
#include "params.h"
#include "payload.h"
#include "quota.h"
#include "request.h"
#include "session_cmds.h"
#include "terminal.h"
#include "token.h"
#include "wire/accept.h"

/* A session is named and used, or only seen; the daemon likewise. */
#define S	true, false, ACCESS_USE, false
#define SR	true, false, ACCESS_SEE, false
#define N	false, false, ACCESS_USE, false
#define NR	false, false, ACCESS_SEE, false
/* The same of extensions; no guest may any of these. */
#define XS	true, true, ACCESS_USE, false
#define XSR	true, true, ACCESS_SEE, false
#define XN	false, true, ACCESS_USE, false
#define XNR	false, true, ACCESS_SEE, false

/* UPLOAD and INPUT look at all by themselves: a payload may follow. */
static const struct command commands[] = {
	{ "UPLOAD", 0, ARGS_ANY, N, params_upload,
	    "UPLOAD <size> [<exec_path>] [file=<name>]",
	    "uploads an ELF file, or a bundle and the program to run from it; "
	    "the bytes follow the line", cmd_upload },
	{ "NEW", 0, ARGS_ANY, XN, params_new,
	    "NEW [tty] [ephemeral] [cols=<n>] [rows=<n>] [name=<label>] "
	    "[cwd=<path>] [env=<KEY>=<value>] [start=now|attach] "
	    "[-- <command> [<arguments>]]",
	    "creates a session from a command of this host, or from a shell",
	    cmd_new },
	{ "START", 1, ARGS_ANY, S, params_start,
	    "START <id> [--debug] [--split] [--tty [cols=<n>] [rows=<n>]] "
	    "[--sandbox none|namespaces|tmpfs] [--network shared|none]",
	    "runs the program", cmd_start },
	{ "ARGS", 1, ARGS_ANY, S, params_args,
	    "ARGS <id> [<arguments>]",
	    "sets the arguments for the next start, or none", cmd_args },
	{ "ENV", 2, ARGS_ANY, S, params_env,
	    "ENV <id> <KEY>=<value>",
	    "sets an environment variable for the next start", cmd_env },
	{ "ENVDEL", 2, 2, S, params_envdel,
	    "ENVDEL <id> <KEY>",
	    "removes an environment variable", cmd_envdel },
	{ "ENVLIST", 1, 1, SR, params_session,
	    "ENVLIST <id>",
	    "shows the environment variables", cmd_envlist },
	{ "STOP", 1, 1, S, params_session,
	    "STOP <id>",
	    "ends the program with SIGTERM, after a while with SIGKILL",
	    cmd_stop },
	{ "KILL", 1, 1, S, params_session,
	    "KILL <id>", "ends the program with SIGKILL",
	    cmd_kill },
	{ "DEBUG", 1, 1, S, params_session,
	    "DEBUG <id>",
	    "attaches gdbserver and opens a port for gdb", cmd_debug },
	{ "LIST", 0, 0, NR, params_none,
	    "LIST", "shows all sessions", cmd_list },
	{ "STATUS", 1, 1, SR, params_session,
	    "STATUS <id>", "shows a session", cmd_status },
	{ "DELETE", 1, 1, S, params_session,
	    "DELETE <id>",
	    "deletes a session that is not running", cmd_delete },
	{ "OUTPUT", 1, 3, SR, params_range,
	    "OUTPUT <id> [<offset>] [base64]",
	    "shows the program's output", cmd_output },
	{ "DEPS", 0, 0, NR, params_none,
	    "DEPS", "shows which features this host supports", cmd_deps },
	{ "SYSROOT", 0, 0, N, params_none,
	    "SYSROOT",
	    "sends the libraries of this host as tar.gz", cmd_sysroot },
	{ "ACTIVITY", 0, 0, NR, params_none,
	    "ACTIVITY", "shows the last events",
	    cmd_activity },
	{ "FOLLOW", 1, 4, XSR, params_follow,
	    "FOLLOW <id> [<offset>] [base64] [hold]",
	    "shows the program's output until it ends; with hold the program "
	    "blocks while the client is behind", cmd_follow },
	{ "WAIT", 1, 2, XSR, params_wait,
	    "WAIT <id> [<seconds>]",
	    "answers when the program has ended or the time limit is reached",
	    cmd_wait },
	{ "SIGNAL", 2, 2, XS, params_signal,
	    "SIGNAL <id> <name or number>",
	    "sends a signal to the program", cmd_signal },
	{ "INPUT", 0, ARGS_ANY, XN, params_input,
	    "INPUT <id> <size>|eof",
	    "writes the bytes that follow the line to the program's input, or "
	    "closes it", cmd_input },
	{ "RESIZE", 3, 3, XS, params_resize,
	    "RESIZE <id> <columns> <rows>",
	    "sets the size of the session's terminal", cmd_resize },
	{ "MARK", 1, 1, XSR, params_session,
	    "MARK <id>",
	    "shows from which offset the terminal's output can be replayed, "
	    "and the bytes that restore its state at that offset",
	    cmd_mark },
	{ "NAME", 1, 2, XS, params_name,
	    "NAME <id> [<label>]",
	    "gives the session a label that can be used as its id, or removes "
	    "it",
	    cmd_name },
	{ "LIMITS", 2, 6, XS, params_limits,
	    "LIMITS <id> [cpu=<n>] [as=<n>] [nofile=<n>] "
	    "[nproc=<n>] [core=<n>]",
	    "sets resource limits for the next start: seconds, bytes, a number "
	    "or unlimited", cmd_limits },
	{ "GDBPIPE", 1, 1, XS, params_session,
	    "GDBPIPE <id>",
	    "attaches gdbserver; after the answer the connection carries gdb's "
	    "protocol",
	    cmd_gdbpipe },
	{ "DEBUGGER", 0, ARGS_ANY, XNR, params_debugger,
	    "DEBUGGER [<session>] [use] <request> | start [name=<label>] "
	    "[image=<id>] [sandbox=<kind>] [network=<kind>] <request> | list",
	    "sends a request, a JSON object, to the session's debugger, or "
	    "starts one",
	    cmd_debugger },
	{ "TRACER", 0, ARGS_ANY, XNR, params_tracer,
	    "TRACER [<session>] <request> | start [<session>] [name=<label>] "
	    "[sandbox=<kind>] [network=<kind>] <request> | list",
	    "sends a request, a JSON object, to the session's tracer, or "
	    "starts one",
	    cmd_tracer },
	{ "SHARE", 2, 2, XS, params_share,
	    "SHARE <id> <user>[:ro|:rw]",
	    "shares the session with another user, read-only or read-write",
	    cmd_share },
	{ "UNSHARE", 2, 2, XS, params_unshare,
	    "UNSHARE <id> <user>", "stops sharing the session with that user",
	    cmd_unshare },
	{ "HELLO", 0, 1, XNR, params_hello,
	    "HELLO [<nonce>]",
	    "answers a nonce; a TCP client that sends it back has shown that "
	    "it reads answers, and may use all commands", cmd_hello },
	{ "AUTH", 1, 1, XNR, params_auth,
	    "AUTH <token>",
	    "authenticates the client; must be the first line of a connection",
	    cmd_auth },
	{ "WHOAMI", 0, 0, XNR, params_none,
	    "WHOAMI", "shows the user and rights of the client", cmd_whoami },
	{ "USAGE", 0, 0, XNR, params_none,
	    "USAGE", "shows processor time and memory of running sessions",
	    cmd_usage },
	{ "QUOTA", 0, 1, XNR, params_quota,
	    "QUOTA [<user>]",
	    "shows the client's quota; administrators may ask for other users",
	    cmd_quota },
	{ "TOKEN", 1, 5, XN, params_token,
	    "TOKEN create [user=<user>] [read-only] [expires=<seconds>] "
	    "[label=<label>] | list | revoke <token-id>",
	    "creates a token to log in with from other hosts, lists tokens, or "
	    "revokes one", cmd_token },
	{ "LOGIN", 1, 1, XN, params_login,
	    "LOGIN link",
	    "creates a key for one browser login within ten minutes",
	    cmd_login },
	{ "TICKET", 1, 2, XSR, params_ticket,
	    "TICKET <id> [ro|role=ro|role=rw]",
	    "creates a key that opens the session's terminal once, within 30 "
	    "seconds", cmd_ticket },
	{ "KEYS", 1, 2, XS, params_keys,
	    "KEYS <id> [rotate]",
	    "creates two keys for the session's terminal, one to use and one "
	    "to watch it; rotate replaces them", cmd_keys },
	{ "AUDIT", 0, 2, XNR, params_audit,
	    "AUDIT [<number> [<seconds>]]",
	    "shows administrators the audit log from that event on",
	    cmd_audit },
	{ "VERSION", 0, 0, XNR, params_none,
	    "VERSION",
	    "shows the daemon's version and mode", cmd_version },
	{ "HELP", 0, 0, XNR, params_none,
	    "HELP", "shows the commands", cmd_help },
};
/* Guests need not learn the usage of commands that they may not run. */
static bool
is_for(const struct conn *c, const struct command *cmd)
{
	return c->owner == NULL || !c->owner->guest || cmd->guest;
}

static bool
has_payload(const struct command *cmd)
{
	const struct param *p;

	for (p = cmd->params; p->name != NULL; p++)
		if (p->kind == PARAM_SIZE)
			return true;
	return false;
}

/* Where a payload follows, the command says so when it has skipped that. */
static bool
permitted(const struct conn *c, const struct rsession *s,
    const struct command *cmd)
{
	if (cmd->need == ACCESS_SEE || has_payload(cmd))
		return true;
	return !c->read_only &&
	    (s == NULL || replica_access(c->owner, s) >= cmd->need);
}

void
command_row(struct conn *c, const struct command *cmd,
    void (*run)(struct conn *, struct rsession *, const struct words *),
    const struct words *ws)
{
	struct rsession *s = NULL;
	uint32_t err;

	if (c->unauthenticated && cmd->run != cmd_auth) {
		answer_error(c, ERR_AUTH_REQUIRED, NULL);
		conn_finish(c);
		return;
	}
	if (!is_for(c, cmd)) {
		answer_error(c, ERR_NOT_PERMITTED, "a guest may only use or "
		    "watch the terminal of one session");
		conn_finish(c);
		return;
	}
	if (hello_refuses(c, cmd, ws))
		return;
	if (ws->n - 1 < cmd->min) {
		command_misused(c, ws, "missing argument");
		return;
	}
	if (ws->n - 1 > cmd->max) {
		command_misused(c, ws, "too many arguments");
		return;
	}
	if (cmd->session) {
		s = replica_resolve(c, &ws->w[1], &err);
		if (s == NULL) {
			answer_error(c, err, replica_why(c, &ws->w[1], err));
			return;
		}
		hello_found(c);
	}
	if (!permitted(c, s, cmd)) {
		answer_error(c, ERR_READ_ONLY, NULL);
		return;
	}
	if (run == NULL)
		run = cmd->run;
	run(c, s, ws);
	/* a token may still follow HELLO */
	if (cmd->run != cmd_hello)
		c->spoke = true;
}

static void
run_row(struct conn *c, const struct command *cmd, const struct words *ws)
{
	command_row(c, cmd, NULL, ws);
}

/*
 * A web page can make a browser send what it likes to this port, but not
 * without a request line before it.
 */
static bool
refused(struct conn *c, const struct words *ws, const char *line, size_t len)
{
	if (line_is_http(ws)) {
		accept_log("a client spoke HTTP to the control port; closed");
		c->dead = true;
		return true;
	}
	if (line_has_control(line, len)) {
		answer_error(c, ERR_INVALID_ARGUMENT, "a control character "
		    "stands in the line; the connection is closed");
		conn_finish(c);
		return true;
	}
	return false;
}

static void
run_request(struct conn *c, const char *line, size_t len)
{
	struct request r;

	request_parse(line, len, &r);
	c->reply = r.reply;
	/* before any other error, ask for AUTH */
	if (c->unauthenticated && (r.cmd == NULL || r.cmd->run != cmd_auth)) {
		answer_error(c, ERR_AUTH_REQUIRED, NULL);
		conn_finish(c);
	} else if (r.err == ERR_OK)
		run_row(c, r.cmd, &r.words);
	else if (c->unauthenticated || r.follows == FOLLOWS_UNKNOWN) {
		answer_error(c, r.err, r.why);
		conn_finish(c);
	} else
		payload_refuse(c, r.err, r.why, r.size);
	request_wipe(&r);
}

static void
reply_form(struct conn *c, char first)
{
	c->reply = (struct reply){
	    .form = first == '{' ? REPLY_JSON : REPLY_LINE };
}

static void
run_line(struct conn *c, const char *line, size_t len)
{
	const struct command *cmd;
	struct words ws;

	line_split(line, len, &ws);
	if (refused(c, &ws, line, len))
		return;
	cmd = command_named(&ws.w[0]);
	if (cmd == NULL && c->unauthenticated) {
		answer_error(c, ERR_AUTH_REQUIRED, NULL);
		conn_finish(c);
	} else if (cmd == NULL)
		answer_error(c, ERR_UNKNOWN_COMMAND, NULL);
	else
		run_row(c, cmd, &ws);
}

static void
run_any(struct conn *c, const char *line, size_t len)
{
	if (line_is_empty(line, len))
		return;
	hello_before(c);
	if (line[0] == '{')
		run_request(c, line, len);
	else
		run_line(c, line, len);
	hello_after(c);
}

void
command_init(void)
{
	static const struct conn_reader reader = { reply_form, run_any };

	command_add(commands, sizeof(commands) / sizeof(commands[0]));
	conn_read_by(&reader);
}
