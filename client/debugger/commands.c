/* SPDX-License-Identifier: ISC */
/* The table of debugger's commands: what help, completion and main() know of
 * them, and what each one asks. */
#include <string.h>

#include "dbg.h"
#include "build.h"
#include "dap.h"
#include "help.h"
#include "io.h"
#include "sessions.h"
#include "setup.h"
#include "show.h"
#include "start.h"

/*
 * Sets of options.  An option that a command's row does not have is refused
 * before any request is sent, so that a misspelt option never lets a program
 * run.
 */
#define WAITS	DOPT(NO_WAIT)
/* looks elsewhere without moving there: others look at the same program */
#define WHERE	(DOPT(THREAD) | DOPT(FRAME))
/* the bound of an answer, and the two that bring what it has cut */
#define MORE	(DOPT(MAX) | DOPT(PATH) | DOPT(OFFSET))
#define STEPS	(WAITS | DOPT(COUNT) | DOPT(INSTRUCTION) | DOPT(THREAD))
#define BEGIN	(DOPT(ADAPTER) | DOPT(SANDBOX) | DOPT(NETWORK))
#define POINT	(DOPT(CONDITION) | DOPT(HIT_COUNT))

/*
 * In the order in which help lists them.  A row with a request needs nothing
 * else: build makes the arguments of the words, show prints the answer.  Rows
 * with run ask more than once, or something that is no session's.
 */
const struct dbg_command dbg_commands[] = {
	{ "start", "run", "PROGRAM [[--] ARGUMENT ...]",
	    "debug a program: it stops at main, or where -b says",
	    NULL, NULL, show_summary, dbg_start, 0, -1, true,
	    BEGIN | WAITS | DOPT(STOP_ON_ENTRY) | DOPT(RUN) | DOPT(BREAK) |
	    DOPT(ENV) | DOPT(CWD) | DOPT(TTY) | DOPT(IMAGE) | DOPT(MAX) },
	{ "attach", NULL, "PID|SESSION", "debug what is running already",
	    NULL, NULL, show_summary, dbg_attach, 1, 1, true,
	    BEGIN | WAITS | DOPT(STOP_ON_ENTRY) | DOPT(PROGRAM) |
	    DOPT(CWD) },
	{ "detach", NULL, "", "let the program go on without a debugger",
	    "detach", NULL, show_words, NULL, 0, 0, false, 0 },
	{ "stop", "kill,quit", "", "end the program and its debug session",
	    "stop", NULL, show_words, NULL, 0, 0, false, 0 },
	{ "restart", NULL, "", "start the program again, with the same "
	    "arguments and breakpoints",
	    "restart", NULL, show_summary, NULL, 0, 0, true,
	    WAITS | DOPT(MAX) },
	{ "status", NULL, "", "tell where the program stands",
	    "status", NULL, show_summary, NULL, 0, 0, false, DOPT(MAX) },
	{ "sessions", NULL, "", "list your debug sessions",
	    NULL, NULL, show_sessions, dbg_sessions, 0, 0, false, 0 },
	{ "use", NULL, "SESSION", "make a session the current one",
	    NULL, NULL, show_summary, dbg_sessions_use, 1, 1, false, 0 },

	/*
	 * The first word alone means "add"; a variable that is called "list"
	 * is watched by "watch add list".
	 */
	{ "breakpoint add", "break,b", "FILE:LINE|FUNCTION [if CONDITION]",
	    "set a breakpoint",
	    "breakpoint_add", build_place, show_words, NULL, 0, -1, false,
	    POINT | DOPT(FUNCTION) | DOPT(LOG) },
	{ "breakpoint list", "breakpoints", "", "list the breakpoints",
	    "breakpoint_list", NULL, show_points, NULL, 0, 0, false, MORE },
	{ "breakpoint remove", "breakpoint delete", "ID|--all",
	    "remove a breakpoint",
	    "breakpoint_remove", build_id, show_words, NULL, 0, 1, false,
	    DOPT(EVERY) },
	{ "breakpoint enable", NULL, "ID|--all", "enable a breakpoint again",
	    "breakpoint_enable", build_id, show_points, NULL, 0, 1, false,
	    DOPT(EVERY) },
	{ "breakpoint disable", NULL, "ID|--all",
	    "keep a breakpoint, but do not stop there",
	    "breakpoint_disable", build_id, show_points, NULL, 0, 1, false,
	    DOPT(EVERY) },
	{ "watch add", "watch", "EXPRESSION",
	    "stop when a variable is written",
	    "watch_add", build_watch, show_words, NULL, 1, -1, false,
	    WHERE | DOPT(CONDITION) | DOPT(READ) | DOPT(ACCESS) },
	{ "watch list", NULL, "", "list the watchpoints",
	    "watch_list", NULL, show_points, NULL, 0, 0, false, MORE },
	{ "watch remove", "watch delete", "ID|--all", "remove a watchpoint",
	    "watch_remove", build_id, show_words, NULL, 0, 1, false,
	    DOPT(EVERY) },
	{ "catch add", "catch", "panic|throw [TYPE]",
	    "stop when an exception is thrown",
	    "catch_add", build_catch, show_words, NULL, 1, -1, false, 0 },
	{ "catch list", NULL, "", "list what is caught",
	    "catch_list", NULL, show_points, NULL, 0, 0, false, MORE },
	{ "catch remove", "catch delete", "ID|--all", "no longer catch it",
	    "catch_remove", build_id, show_words, NULL, 0, 1, false,
	    DOPT(EVERY) },

	/* They answer with the next stop, or that there is none yet. */
	{ "continue", "c", "", "run on to the next stop",
	    "continue", NULL, show_summary, NULL, 0, 0, true,
	    WAITS | DOPT(THIS_THREAD) | DOPT(MAX) },
	{ "next", "n", "[COUNT]", "run one line, calls and all",
	    "next", build_step, show_summary, NULL, 0, 1, true,
	    STEPS | DOPT(MAX) },
	{ "step", "s", "[COUNT]", "run one line, into what it calls",
	    "step", build_step, show_summary, NULL, 0, 1, true,
	    STEPS | DOPT(MAX) },
	{ "finish", "out", "", "run until this function returns",
	    "finish", NULL, show_summary, NULL, 0, 0, true,
	    WAITS | DOPT(THREAD) | DOPT(MAX) },
	{ "until", NULL, "FILE:LINE|LINE", "run until a line is reached",
	    "until", build_place, show_summary, NULL, 1, 1, true,
	    WAITS | DOPT(MAX) },
	{ "pause", NULL, "", "stop the program where it is",
	    "pause", NULL, show_summary, NULL, 0, 0, true,
	    WAITS | DOPT(THREAD) | DOPT(MAX) },
	{ "await", NULL, "", "wait for the next stop",
	    "await", NULL, show_summary, NULL, 0, 0, true,
	    DOPT(SINCE) | DOPT(MAX) },

	/*
	 * They ask only, but for frame, up, down and thread, which move what
	 * the others show, until the program runs again.
	 */
	{ "context", "where", "", "show where it stands, with source and "
	    "variables",
	    "context", NULL, show_summary, NULL, 0, 0, false,
	    WHERE | MORE | DOPT(CONTEXT) },
	{ "source", "list", "[FILE:LINE|FUNCTION]", "show source",
	    "source", build_source, show_source, NULL, 0, 1, false,
	    WHERE | DOPT(CONTEXT) | DOPT(THIS_FUNCTION) | DOPT(MAX) },
	{ "backtrace", "bt", "", "show the stack",
	    "backtrace", NULL, show_backtrace, NULL, 0, 0, false,
	    DOPT(THREAD) | MORE | DOPT(LOCALS) | DOPT(LIMIT) },
	{ "frame", "f", "[N]", "show a frame, and look there from now on",
	    "frame", build_index_arg, show_summary, NULL, 0, 1, false,
	    DOPT(MAX) },
	{ "up", NULL, "", "look at the caller",
	    "up", NULL, show_summary, NULL, 0, 0, false, DOPT(MAX) },
	{ "down", NULL, "", "look at what was called",
	    "down", NULL, show_summary, NULL, 0, 0, false, DOPT(MAX) },
	{ "locals", NULL, "", "show local variables",
	    "locals", NULL, show_locals, NULL, 0, 0, false, WHERE | MORE },
	{ "args", NULL, "", "show the function's arguments",
	    "args", NULL, show_locals, NULL, 0, 0, false, WHERE | MORE },
	{ "print", "p", "EXPRESSION", "show a value",
	    "print", build_expression, show_value, NULL, 1, -1, false,
	    WHERE | MORE | DOPT(TYPE) | DOPT(FORMAT) },
	{ "eval", NULL, "EXPRESSION",
	    "evaluate, with whatever it brings about",
	    "eval", build_expression, show_value, NULL, 1, -1, false,
	    WHERE | MORE | DOPT(TYPE) },
	{ "set", NULL, "VARIABLE VALUE", "change a variable",
	    "set", build_set, show_value, NULL, 2, -1, false, WHERE },
	{ "threads", NULL, "", "list the threads",
	    "threads", NULL, show_threads, NULL, 0, 0, false, MORE },
	{ "thread", NULL, "[ID]", "show a thread, and look there from now on",
	    "thread", build_thread, show_summary, NULL, 0, 1, false,
	    DOPT(MAX) },

	/* Below the language: some adapters have none of it, and say so. */
	{ "memory read", "x", "ADDRESS|&VARIABLE", "show memory",
	    "memory_read", build_memory, show_memory, NULL, 1, 1, false,
	    WHERE | DOPT(COUNT) | DOPT(FORMAT) | DOPT(MAX) },
	{ "memory write", NULL, "ADDRESS|&VARIABLE HEX", "change memory",
	    "memory_write", build_memory, show_words, NULL, 2, 2, false,
	    WHERE },
	{ "registers", "regs", "[NAME ...]", "show registers",
	    "registers", build_registers, show_registers, NULL, 0, -1,
	    false, WHERE | MORE },
	{ "disassemble", "disas", "[ADDRESS]", "show instructions",
	    "disassemble", build_memory, show_disassembly, NULL, 0, 1,
	    false, WHERE | DOPT(COUNT) | DOPT(SOURCE) | DOPT(MAX) },
	{ "raw", NULL, "COMMAND", "give a command to the adapter itself",
	    "raw", build_raw, show_raw, NULL, 1, -1, false, MORE },

	/* The session's own: an adapter has no part in its input and output. */
	{ "output", NULL, "", "print what the program wrote",
	    NULL, NULL, NULL, dbg_output, 0, 0, false,
	    DOPT(FOLLOW) | DOPT(TAIL) | DOPT(CLEAR) | DOPT(ALL) },
	{ "input", NULL, "TEXT|-", "write to the program's input",
	    NULL, NULL, show_words, dbg_input, 0, -1, false,
	    DOPT(NO_NEWLINE) | DOPT(EOF) },
	{ "dap", NULL, "", "serve the session to an editor, by the debug "
	    "adapter protocol on standard input and output",
	    NULL, NULL, NULL, dbg_dap, 0, 0, false, 0 },
	{ "setup", NULL, "[ADAPTER]", "tell which debug adapters are here",
	    NULL, NULL, NULL, dbg_setup, 0, 1, false,
	    DOPT(LIST) | DOPT(CHECK) },
	{ "help", NULL, "[COMMAND]", "show help",
	    NULL, NULL, NULL, dbg_help, 0, 2, false, DOPT(COMPLETION) },
};

const size_t dbg_ncommands = sizeof(dbg_commands) / sizeof(dbg_commands[0]);

/* How many words of a name the words begin with; 0: it is another. */
static int
match(const char *name, size_t len, int n, char **words)
{
	size_t first = strcspn(name, " ");

	if (first > len)
		first = len;
	if (n < 1 || strlen(words[0]) != first ||
	    strncmp(name, words[0], first) != 0)
		return 0;
	if (first == len)
		return 1;
	if (n < 2 || strlen(words[1]) != len - first - 1 ||
	    strncmp(name + first + 1, words[1], len - first - 1) != 0)
		return 0;
	return 2;
}

/* The same for a row: its name, or one of its aliases. */
static int
match_command(const struct dbg_command *c, int n, char **words)
{
	const char *p = c->aliases;
	int used = match(c->name, strlen(c->name), n, words);
	size_t len;

	while (used == 0 && p != NULL && *p != '\0') {
		len = strcspn(p, ",");
		used = match(p, len, n, words);
		p += len + (p[len] == ',');
	}
	return used;
}

/* The longest name wins: "watch list" is no watchpoint on a variable. */
const struct dbg_command *
dbg_command_find(int n, char **words, int *usedp)
{
	const struct dbg_command *best = NULL;
	size_t i;
	int used;

	*usedp = 0;
	for (i = 0; i < dbg_ncommands; i++) {
		used = match_command(&dbg_commands[i], n, words);
		if (used > *usedp) {
			best = &dbg_commands[i];
			*usedp = used;
		}
	}
	return best;
}
