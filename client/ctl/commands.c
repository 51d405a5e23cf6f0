/* SPDX-License-Identifier: ISC */
/* The table of commands: what help, completion and main() know of them. */
#include <string.h>

#include "access.h"
#include "attach.h"
#include "audit.h"
#include "basic.h"
#include "commands.h"
#include "discover.h"
#include "gdb.h"
#include "help.h"
#include "host.h"
#include "keys.h"
#include "output.h"
#include "play.h"
#include "proxy.h"
#include "record.h"
#include "run.h"
#include "shell.h"
#include "timeline.h"
#include "tokens.h"
#include "top.h"
#include "trace.h"
#include "transfer.h"

#define NET	(OPT(SANDBOX) | OPT(NETWORK))
#define PROBES	(OPT(PROJECT) | OPT(ADDRESS) | OPT(BUDGET) | OPT(RAW) | \
		    OPT(FOLLOW_FORKS))
#define FILTERS	(OPT(FUNCTION) | OPT(CONTAINS) | OPT(MATCHES) | \
		    OPT(THREAD) | OPT(TYPE) | OPT(RETURNS))

const struct command commands[] = {
	{ "upload", NULL, "FILE", "load a program or a bundle",
	    ctl_upload, NULL, 1, 1, 0, true, false,
	    OPT(BUNDLE) | OPT(NAME) | OPT(QUIET) },
	{ "start", NULL, "ID", "start a session's program",
	    ctl_start, "START", 1, 1, 0, true, false,
	    OPT(DEBUG) | OPT(SPLIT) | OPT(TTY) | NET },
	{ "run", NULL, "FILE [[--] ARGUMENT ...]",
	    "upload a program, run it and delete it again",
	    ctl_run, NULL, 1, -1, 1, true, false,
	    OPT(BUNDLE) | OPT(NAME) | OPT(ENV) | OPT(RAW) | OPT(TTY) |
	    OPT(ESCAPE) | NET },
	{ "new", NULL, "[[--] COMMAND [ARGUMENT ...]]",
	    "create a session from a command of the target",
	    ctl_new, NULL, 0, -1, LITERAL_COMMAND, true, false,
	    OPT(TTY) | OPT(NAME) | OPT(CWD) | OPT(ENV) | OPT(QUIET) },
	{ "shell", NULL, "[[--] COMMAND [ARGUMENT ...]]",
	    "run a shell or a command on a terminal of the target",
	    ctl_shell, NULL, 0, -1, LITERAL_COMMAND, true, false,
	    OPT(NAME) | OPT(CWD) | OPT(ENV) | OPT(ESCAPE) | NET },
	{ "attach", NULL, "ID", "connect this terminal to a session's",
	    ctl_attach, NULL, 1, 1, 0, true, false,
	    OPT(READ_ONLY) | OPT(FROM) | OPT(ESCAPE) },
	{ "record", NULL, "ID", "record a session's terminal (asciicast)",
	    ctl_record, NULL, 1, 1, 0, true, false, OPT(OUTFILE) },
	{ "play", NULL, "FILE|-", "show a recording on this terminal",
	    ctl_play, NULL, 1, 1, 0, true, false,
	    OPT(SPEED) | OPT(IDLE_LIMIT) | OPT(RESIZE) },
	{ "args", NULL, "ID [[--] ARGUMENT ...]",
	    "set the arguments for the next start",
	    ctl_args, "ARGS", 1, -1, 1, false, false, 0 },
	{ "env", NULL, "ID KEY=VALUE ...", "set environment variables",
	    ctl_env, "ENV", 2, -1, 1, false, false, 0 },
	{ "envdel", NULL, "ID KEY ...", "remove environment variables",
	    ctl_env, "ENVDEL", 2, -1, 1, false, false, 0 },
	{ "envlist", NULL, "ID", "show environment variables",
	    ctl_envlist, "ENVLIST", 1, 1, 0, false, false, 0 },
	{ "stop", NULL, "ID", "end the program (SIGTERM, then SIGKILL)",
	    ctl_session, "STOP", 1, 1, 0, true, false, 0 },
	{ "kill", NULL, "ID", "end the program at once (SIGKILL)",
	    ctl_session, "KILL", 1, 1, 0, true, false, 0 },
	{ "signal", NULL, "ID SIGNAL", "send a signal to the program",
	    ctl_signal, "SIGNAL", 2, 2, 1, false, false, 0 },
	{ "list", "ls", "", "show all sessions",
	    ctl_list, "LIST", 0, 0, 0, false, false, 0 },
	{ "status", NULL, "ID", "show one session",
	    ctl_status, "STATUS", 1, 1, 0, false, false, 0 },
	{ "delete", "rm", "ID ...", "delete sessions that are not running",
	    ctl_delete, "DELETE", 1, -1, 0, true, false, 0 },
	{ "output", NULL, "ID", "print the program's output",
	    ctl_output, NULL, 1, 1, 0, true, false,
	    OPT(OFFSET) | OPT(FOLLOW) | OPT(TAIL) | OPT(RAW) | OPT(HOLD) },
	{ "follow", NULL, "ID", "print the program's output until it ends",
	    ctl_follow, NULL, 1, 1, 0, true, false,
	    OPT(OFFSET) | OPT(TAIL) | OPT(RAW) | OPT(HOLD) },
	{ "input", NULL, "ID [FILE|-]", "write to the program's input",
	    ctl_input, NULL, 1, 2, 0, true, false, OPT(EOF) },
	{ "wait", NULL, "ID [SECONDS]", "wait until the program has ended",
	    ctl_wait, "WAIT", 1, 2, 0, true, false, 0 },
	{ "name", NULL, "ID [LABEL]", "give a session a label, or remove it",
	    ctl_session, "NAME", 1, 2, 0, false, false, 0 },
	{ "limits", NULL, "ID LIMIT=VALUE ...",
	    "limits for the next start: cpu as nofile nproc core",
	    ctl_limits, "LIMITS", 2, -1, 1, false, false, 0 },
	{ "debug", NULL, "ID", "attach gdbserver to a running program",
	    ctl_session, "DEBUG", 1, 1, 0, true, false, 0 },
	{ "gdb", NULL, "ID [-- GDB_ARGUMENT ...]",
	    "debug a session with gdb, in any state",
	    ctl_gdb, NULL, 1, -1, 0, true, false,
	    OPT(SYMBOLS) | OPT(SYSROOT) | OPT(PORT) | NET },
	{ "gdb-pipe", NULL, "ID",
	    "connect standard input and output to gdbserver",
	    ctl_gdb_pipe, NULL, 1, 1, 0, true, false, 0 },
	{ "trace", NULL, "[ID [PATTERN ...]]",
	    "trace functions of a running program, or show the traces",
	    ctl_trace, NULL, 0, -1, 0, true, false, PROBES },
	{ "trace run", NULL, "[--] COMMAND [ARGUMENT ...]",
	    "start a command and trace its functions",
	    ctl_trace_run, NULL, 1, -1, LITERAL_COMMAND, true, false,
	    PROBES | NET | OPT(PATTERN) | OPT(NAME) | OPT(ENV) | OPT(CWD) |
	    OPT(FOLLOW) | OPT(TREE) | OPT(QUIET) },
	{ "trace remove", NULL, "ID PATTERN ...",
	    "stop tracing the functions of a pattern",
	    ctl_trace_remove, NULL, 2, -1, 0, true, false, 0 },
	{ "trace list", NULL, "", "show the sessions that are traced",
	    ctl_trace_list, NULL, 0, 0, 0, false, false, 0 },
	{ "trace status", NULL, "ID",
	    "show patterns, functions, calls and losses",
	    ctl_trace_status, NULL, 1, 1, 0, true, false, 0 },
	{ "trace functions", NULL, "ID PATTERN",
	    "show which functions a pattern matches",
	    ctl_trace_functions, NULL, 2, 2, 0, true, false, OPT(LIMIT) },
	{ "trace stop", NULL, "ID", "stop tracing; the program keeps running",
	    ctl_trace_stop, NULL, 1, 1, 0, true, false, OPT(KEEP) },
	{ "timeline", NULL, "ID|FILE", "print the events of a traced program",
	    ctl_timeline, NULL, 0, 1, 0, true, false,
	    FILTERS | OPT(FOLLOW) | OPT(TREE) | OPT(LIMIT) | OPT(AFTER) |
	    OPT(KEPT) },
	{ "timeline sql", NULL, "ID|FILE STATEMENT",
	    "query a timeline in SQL: SELECT on events and sessions",
	    ctl_timeline_sql, NULL, 2, 2, 0, true, false,
	    OPT(FORMAT) | OPT(LIMIT) },
	{ "timeline export", NULL, "ID|FILE",
	    "export a timeline for other programs",
	    ctl_timeline_export, NULL, 1, 1, 0, true, false,
	    FILTERS | OPT(FORMAT) | OPT(OUTFILE) },
	{ "timeline delete", NULL, "NAME ...",
	    "delete timelines that were kept",
	    ctl_timeline_delete, NULL, 1, -1, 0, false, false, 0 },
	{ "sysroot", NULL, "", "fetch the target's libraries (tar.gz)",
	    ctl_sysroot, NULL, 0, 0, 0, true, false, OPT(OUTFILE) },
	{ "deps", NULL, "", "show which features the target supports",
	    ctl_deps, "DEPS", 0, 0, 0, false, false, 0 },
	{ "activity", NULL, "", "show the latest events",
	    ctl_activity, "ACTIVITY", 0, 0, 0, false, false, 0 },
	{ "top", NULL, "", "show all sessions and update them continuously",
	    ctl_top, NULL, 0, 0, 0, false, false, OPT(DELAY) | OPT(COUNT) },
	{ "whoami", NULL, "", "show your user and rights at the daemon",
	    ctl_whoami, "WHOAMI", 0, 0, 0, false, false, 0 },
	{ "share", NULL, "ID USER[:ro|:rw]", "share a session with a user",
	    ctl_share, "SHARE", 2, 2, 0, false, false, 0 },
	{ "share accept", NULL, "ID",
	    "accept a session that another user shares",
	    ctl_share_accept, "STATUS", 1, 1, 0, false, false, 0 },
	{ "unshare", NULL, "ID USER", "stop sharing a session with a user",
	    ctl_share, "UNSHARE", 2, 2, 0, false, false, 0 },
	{ "keys", NULL, "ID", "create keys that let others use or watch a "
	    "terminal",
	    ctl_keys, "KEYS", 1, 1, 0, false, false, OPT(ROTATE) },
	{ "ticket", NULL, "ID [ro]",
	    "create a key that opens a session's terminal once",
	    ctl_ticket, "TICKET", 1, 2, 0, false, false, 0 },
	{ "web", NULL, "", "print an address for logging in with a browser",
	    ctl_web, "LOGIN", 0, 0, 0, false, false, OPT(OPEN) },
	{ "quota", NULL, "[USER]", "show use and limits",
	    ctl_quota, "QUOTA", 0, 1, 0, false, false, 0 },
	{ "audit", NULL, "", "show who did what (for administrators)",
	    ctl_audit, "AUDIT", 0, 0, 0, true, false, OPT(FOLLOW) },
	{ "token", NULL, "create | list | revoke ID",
	    "create, list and revoke tokens for other hosts",
	    ctl_token, "TOKEN", 1, 2, 0, false, false,
	    OPT(USER) | OPT(READ_ONLY) | OPT(EXPIRES) | OPT(LABEL) |
	    OPT(QUIET) },
	{ "login", NULL, "", "log in to the target with a token, and store it",
	    ctl_login, "AUTH", 0, 0, 0, false, true, 0 },
	{ "logout", NULL, "", "forget the token for the target",
	    ctl_logout, NULL, 0, 0, 0, false, true, 0 },
	{ "fingerprint", NULL, "", "show the fingerprint of the daemon's "
	    "certificate",
	    ctl_fingerprint, "VERSION", 0, 0, 0, false, false, 0 },
	{ "proxy", NULL, "",
	    "connect standard input and output to the local socket",
	    ctl_proxy, NULL, 0, 0, 0, true, true, 0 },
	{ "discover", NULL, "", "find targets on the local network",
	    ctl_discover, NULL, 0, 0, 0, false, false, 0 },
	{ "version", NULL, "", "show the versions of client and daemon",
	    ctl_version, "VERSION", 0, 0, 0, false, false, 0 },
	{ "help", NULL, "[COMMAND]", "show help",
	    ctl_help, "HELP", 0, 2, 0, false, false,
	    OPT(DAEMON) | OPT(COMPLETION) },
};

const size_t ncommands = sizeof(commands) / sizeof(commands[0]);

/* Whether two words are a name that has a blank in it. */
static bool
is_pair(const char *name, const char *first, const char *second)
{
	size_t len = strlen(first);

	return strncmp(name, first, len) == 0 && name[len] == ' ' &&
	    strcmp(name + len + 1, second) == 0;
}

const struct command *
ctl_command_find(int n, char **words, int *usedp)
{
	const struct command *c, *found = NULL;

	*usedp = 1;
	for (c = commands; c < commands + ncommands; c++) {
		if (n > 1 && is_pair(c->name, words[0], words[1])) {
			*usedp = 2;
			return c;
		}
		if (strcmp(words[0], c->name) == 0 || (c->alias != NULL &&
		    strcmp(words[0], c->alias) == 0))
			found = c;
	}
	return found;
}
