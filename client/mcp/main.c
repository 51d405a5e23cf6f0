/* SPDX-License-Identifier: ISC */
/* debuglantern-mcp: see mcp.h. */
#include <bsd/string.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/local.h"
#include "client/lib/report.h"
#include "client/lib/start.h"
#include "client/lib/target.h"
#include "mcp.h"
#include "message.h"
#include "requests.h"

/* While so many bytes are unread by the client, no more is read from it. */
#define UNSENT_MAX	(1U << 20)
/* Standard input and output, and connections. */
#define POLLED_MAX	32

static struct mcp_input	 input;

/* -- the command line ------------------------------------------------------ */

static const char usage_text[] =
    "usage: " MCP_NAME " [-hV] [--system | --socket PATH]\n"
    "Serves the Model Context Protocol on standard input and output, for the\n"
    "client of an agent to start; " MCP_NAME "(1) says how.\n"
    "  --system       ask the system's daemon, not your own\n"
    "  --socket PATH  ask the daemon at this local socket\n"
    "  -h, --help     show this and exit\n"
    "  -V, --version  show the version and exit\n";

static int
set_socket(struct target *t, const char *path)
{
	t->kind = TARGET_UNIX;
	if (strncmp(path, "unix:", 5) == 0)
		path += 5;
	if (strlcpy(t->path, path, sizeof(t->path)) < sizeof(t->path))
		return 0;
	report("\"%s\" is longer than %zu bytes, which no socket's path is",
	    path, sizeof(t->path) - 1);
	return -1;
}

/* CTL_OK, with the daemon that is meant; else an exit code.  *done: there is
 * nothing more to do. */
static int
parse(int argc, char **argv, bool *done)
{
	static const struct option options[] = {
		{ "system", no_argument, NULL, 's' },
		{ "socket", required_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	const char *path = NULL;
	struct target t = { .kind = TARGET_UNIX };
	bool system = false;
	int ch;

	*done = true;
	opterr = 0;
	while ((ch = getopt_long(argc, argv, "hV", options, NULL)) != -1)
		if (ch == 's')
			system = true;
		else if (ch == 'S')
			path = optarg;
		else if (ch == 'h' || ch == 'V') {
			printf(ch == 'h' ? usage_text : MCP_NAME " "
			    DL_VERSION "\n");
			return report_flush();
		} else
			return usage_error("\"%s\" is no option, or needs a "
			    "value; \"" MCP_NAME " --help\" lists those "
			    "that there are", argv[optind - 1]);
	if (optind < argc)
		return usage_error("\"%s\": unexpected argument; there are "
		    "only options", argv[optind]);
	if (system && path != NULL)
		return usage_error("--system and --socket name two daemons: "
		    "give one");
	if (path == NULL)
		path = getenv("DEBUGLANTERN_SOCKET");
	*done = false;
	if (system)
		local_system(&t);
	else if (path != NULL && *path != '\0') {
		if (set_socket(&t, path) == -1)
			return CTL_USAGE;
	} else
		local_own(&t);
	mcp_requests_init(&t, !system && (path == NULL || *path == '\0'));
	return CTL_OK;
}

/* -- the loop -------------------------------------------------------------- */

/* Its id is all that is known of it. */
static void
too_long(const struct mcp_long *l)
{
	struct json_object *id = mcp_long_id(l);
	char words[80];

	/* notifications are not answered, whatever is wrong with them */
	if (id == NULL && l->method)
		return;
	snprintf(words, sizeof(words), "a message has at most %u bytes",
	    MCP_MESSAGE_MAX);
	mcp_put_error(id, MCP_INVALID_REQUEST, words);
	json_object_put(id);
}

static void
take_lines(void)
{
	const struct mcp_long *over;
	size_t len;
	char *line;

	while (mcp_requests_room() &&
	    (line = mcp_input_line(&input, &len, &over)) != NULL)
		if (over != NULL)
			too_long(over);
		else
			mcp_take(line, len);
}

static bool
is_done(void)
{
	return input.ended && mcp_requests_count() == 0 && input.len == 0 &&
	    mcp_unsent() == 0;
}

static bool
reads(void)
{
	return !input.ended && mcp_requests_room() &&
	    mcp_unsent() < UNSENT_MAX;
}

/* False when nobody is there any more. */
static bool
turn(void)
{
	struct pollfd pfds[2 + POLLED_MAX];
	int ms = mcp_requests_progress();
	size_t n = 0;

	pfds[0] = (struct pollfd){ .events = POLLIN,
	    .fd = reads() ? STDIN_FILENO : -1 };
	pfds[1] = (struct pollfd){ .events = POLLOUT,
	    .fd = mcp_unsent() > 0 ? STDOUT_FILENO : -1 };
	if (mcp_unsent() < UNSENT_MAX)
		n = mcp_requests_poll(pfds + 2, POLLED_MAX);
	if (poll(pfds, (nfds_t)(2 + n), ms) == -1) {
		if (errno != EINTR)
			err(CTL_USAGE, "poll");
		return true;
	}
	/* cancelled before answered, if both are there */
	if (pfds[0].revents != 0)
		(void)mcp_input_read(&input);
	take_lines();
	mcp_requests_run(pfds + 2, n);
	take_lines();
	return mcp_flush();
}

int
main(int argc, char **argv)
{
	bool done;
	int code;

	report_name = MCP_NAME;
	client_start();
	setlocale(LC_CTYPE, "C.UTF-8");
	code = parse(argc, argv, &done);
	if (done || code != CTL_OK)
		return code;
	while (!is_done())
		if (!turn())
			break;
	mcp_requests_end();
	return CTL_OK;
}
