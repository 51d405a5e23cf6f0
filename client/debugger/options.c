/* SPDX-License-Identifier: ISC */
/* The options of debugger, and what they are called in requests. */
#include <limits.h>
#include <stdio.h>

#include "client/lib/args.h"
#include "options.h"

/*
 * Two of one name are two rows where they mean different things: --function
 * takes a name with break and none with source.  A row's set of options holds
 * one of them, and that is the one that is found.
 */
static const struct opt_spec specs[] = {
	[DOPT_SESSION] = { "session", 's', "NAME",
	    "debug session: label or id, else the current one",
	    "DEBUGGER_SESSION" },
	[DOPT_JSON] = { "json", 0, NULL, "print the answer as JSON", NULL },
	[DOPT_TIMEOUT] = { "timeout", 0, "SECONDS", "how long to wait",
	    NULL },
	[DOPT_SYSTEM] = { "system", 0, NULL,
	    "the system's daemon, not your own", NULL },
	[DOPT_TARGET] = { "target", 0, "TARGET",
	    "another daemon: HOST[:PORT], tls://, ssh:// or unix:", NULL },
	[DOPT_HELP] = { "help", 'h', NULL, "show help and exit", NULL },
	[DOPT_VERSION] = { "version", 'V', NULL, "show the version and exit",
	    NULL },
	[DOPT_COMPLETION] = { "completion", 0, NULL, NULL, NULL },
	[DOPT_NO_WAIT] = { "no-wait", 0, NULL,
	    "return at once, do not wait for the stop", NULL },
	[DOPT_ADAPTER] = { "adapter", 0, "NAME",
	    "debug adapter, else by the program's kind", NULL },
	[DOPT_STOP_ON_ENTRY] = { "stop-on-entry", 0, NULL,
	    "stop at the very first instruction", NULL },
	[DOPT_RUN] = { "run", 0, NULL,
	    "do not stop at main where no breakpoint is set", NULL },
	[DOPT_BREAK] = { "break", 'b', "PLACE",
	    "breakpoint: FILE:LINE or FUNCTION [if CONDITION]", NULL },
	[DOPT_ENV] = { "env", 'e', "KEY=VALUE",
	    "environment variable, beside those here", NULL },
	[DOPT_CWD] = { "cwd", 0, "DIR", "directory to run it in, else this one",
	    NULL },
	[DOPT_TTY] = { "tty", 0, NULL, "run it on a terminal of its own",
	    NULL },
	[DOPT_IMAGE] = { "image", 0, "ID", "debug an uploaded session", NULL },
	[DOPT_SANDBOX] = { "sandbox", 0, "KIND",
	    "sandbox: none, namespaces or tmpfs", NULL },
	[DOPT_NETWORK] = { "network", 0, "KIND", "network: none or shared",
	    NULL },
	[DOPT_PROGRAM] = { "program", 0, "FILE",
	    "program with symbols, else what the process runs", NULL },
	[DOPT_FUNCTION] = { "function", 'f', "NAME", "at a function", NULL },
	[DOPT_CONDITION] = { "condition", 'c', "EXPRESSION",
	    "stop only where it is true", NULL },
	[DOPT_HIT_COUNT] = { "hit-count", 0, "N", "stop at the Nth hit",
	    NULL },
	[DOPT_LOG] = { "log", 0, "MESSAGE",
	    "print it and go on; {EXPRESSION} in it is evaluated", NULL },
	[DOPT_READ] = { "read", 0, NULL, "stop when it is read", NULL },
	[DOPT_ACCESS] = { "access", 0, NULL,
	    "stop when it is read or written", NULL },
	[DOPT_SINCE] = { "since", 0, "EPOCH",
	    "only for what is newer than that", NULL },
	[DOPT_THIS_THREAD] = { "thread", 0, NULL, "the current thread alone",
	    NULL },
	[DOPT_COUNT] = { "count", 'n', "N", "how many", NULL },
	[DOPT_INSTRUCTION] = { "instruction", 'i', NULL,
	    "one instruction, not one line", NULL },
	[DOPT_CONTEXT] = { "context", 0, "LINES", "lines around it", NULL },
	[DOPT_THIS_FUNCTION] = { "function", 'f', NULL,
	    "the current function", NULL },
	[DOPT_LOCALS] = { "locals", 0, NULL, "with each frame's variables",
	    NULL },
	[DOPT_LIMIT] = { "limit", 0, "N", "at most so many frames", NULL },
	[DOPT_TYPE] = { "type", 0, NULL, "with its type", NULL },
	[DOPT_FORMAT] = { "format", 0, "FORMAT",
	    "hex, binary, octal, decimal or address", NULL },
	[DOPT_THREAD] = { "thread", 0, "ID", "look at that thread", NULL },
	[DOPT_FRAME] = { "frame", 0, "N", "look at that frame", NULL },
	[DOPT_MAX] = { "max", 0, "BYTES", "bound of the answer (8192)", NULL },
	[DOPT_PATH] = { "path", 0, "PATH", "value to show the rest of", NULL },
	[DOPT_OFFSET] = { "offset", 0, "N", "where the rest begins", NULL },
	[DOPT_SOURCE] = { "source", 0, NULL, "with source lines", NULL },
	[DOPT_FOLLOW] = { "follow", 'f', NULL, "go on until the end", NULL },
	[DOPT_TAIL] = { "tail", 0, "LINES", "only the last lines", NULL },
	[DOPT_CLEAR] = { "clear", 0, NULL,
	    "pass over what is there, for you alone", NULL },
	[DOPT_ALL] = { "all", 0, NULL, "also what you have seen", NULL },
	[DOPT_NO_NEWLINE] = { "no-newline", 'n', NULL,
	    "do not add a line feed", NULL },
	[DOPT_EOF] = { "eof", 0, NULL, "close the program's input (after it)",
	    NULL },
	[DOPT_LIST] = { "list", 0, NULL, "all that are known", NULL },
	[DOPT_CHECK] = { "check", 0, NULL,
	    "fail if there is none, or not that one", NULL },
	[DOPT_EVERY] = { "all", 0, NULL, "all of them", NULL },
};

const struct opt_table dbg_options = {
	.specs = specs,
	.count = DOPT_END,
	/* of any other option the last one counts */
	.lists = {
		[DLIST_ENV] = DOPT_ENV, [DLIST_BREAK] = DOPT_BREAK,
		[DLIST_BREAK + 1] = DOPT_MAX,
	},
};

/* How the value of an option becomes a member: TRUE and FALSE have none. */
enum kind { TEXT, NUMBER, TRUE, FALSE };

/*
 * Options that a request has under a name of its own.  The bounds are those
 * of any daemon: what a session makes of a number is its own to refuse.
 */
static const struct {
	unsigned int	 opt;
	const char	*key;
	enum kind	 kind;
	long long	 least;
	long long	 most;
} carried[] = {
	/* the daemon waits unless told not to */
	{ DOPT_NO_WAIT, "wait", FALSE, 0, 0 },
	{ DOPT_ADAPTER, "adapter", TEXT, 0, 0 },
	{ DOPT_STOP_ON_ENTRY, "stop_on_entry", TRUE, 0, 0 },
	/* neither of these two: it stops at main */
	{ DOPT_RUN, "stop_on_entry", FALSE, 0, 0 },
	{ DOPT_TTY, "tty", TRUE, 0, 0 },
	{ DOPT_FUNCTION, "function", TEXT, 0, 0 },
	{ DOPT_CONDITION, "condition", TEXT, 0, 0 },
	{ DOPT_HIT_COUNT, "hit_count", NUMBER, 1, INT_MAX },
	{ DOPT_LOG, "log", TEXT, 0, 0 },
	{ DOPT_SINCE, "since", NUMBER, 0, LLONG_MAX },
	{ DOPT_THIS_THREAD, "thread_only", TRUE, 0, 0 },
	{ DOPT_COUNT, "count", NUMBER, 1, 1 << 20 },
	{ DOPT_CONTEXT, "lines", NUMBER, 0, 1000 },
	{ DOPT_THIS_FUNCTION, "function", TRUE, 0, 0 },
	{ DOPT_LOCALS, "locals", TRUE, 0, 0 },
	{ DOPT_LIMIT, "limit", NUMBER, 1, 10000 },
	{ DOPT_FORMAT, "format", TEXT, 0, 0 },
	/* adapters have threads below 0 */
	{ DOPT_THREAD, "thread", NUMBER, LLONG_MIN, LLONG_MAX },
	{ DOPT_FRAME, "frame", NUMBER, 0, INT_MAX },
	{ DOPT_MAX, "max", NUMBER, 256, 262144 },
	{ DOPT_PATH, "path", TEXT, 0, 0 },
	{ DOPT_OFFSET, "offset", NUMBER, 0, LLONG_MAX },
	{ DOPT_SOURCE, "source", TRUE, 0, 0 },
};

int
dbg_options_args(const struct options *o, struct json_object *args)
{
	long long n = 0;
	size_t i;

	for (i = 0; i < sizeof(carried) / sizeof(carried[0]); i++) {
		if (!opt_given(o, carried[i].opt))
			continue;
		if (carried[i].kind == NUMBER && opt_number(o, carried[i].opt,
		    carried[i].least, carried[i].most, &n) == -1)
			return -1;
		if (carried[i].kind == TEXT && args_text(args, carried[i].key,
		    o->value[carried[i].opt]) == -1)
			return -1;
		if (carried[i].kind == NUMBER)
			args_number(args, carried[i].key, n);
		if (carried[i].kind == TRUE || carried[i].kind == FALSE)
			json_object_object_add(args, carried[i].key,
			    json_object_new_boolean(carried[i].kind == TRUE));
	}
	return 0;
}
