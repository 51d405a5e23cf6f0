/* SPDX-License-Identifier: ISC */
/* links: client/mcp/input.c client/mcp/message.c client/mcp/requests.c client/mcp/output.c client/mcp/keepalive.c client/mcp/leftout.c client/lib/args.c client/lib/conn.c client/lib/dial.c client/lib/environment.c client/lib/reply.c client/lib/report.c client/lib/safe.c client/lib/ssh.c client/lib/signals.c client/lib/stream.c client/lib/target.c common/base/log.c -lbsd common/base/utf8.c */
/* covers: client/mcp/input.c client/mcp/message.c client/mcp/requests.c client/mcp/output.c */
/*
 * Fuzz target of debuglantern-mcp: what an agent's client writes, and what
 * daemons answer.  The input is records: bytes of the client, an answer on one
 * of the connections, its end, time.  Every line to the client is JSON, and
 * nobody is answered twice.
 */
#include <sys/socket.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define FUZZ_CLOCK
#define FUZZ_FAULT
#include "fuzz.h"

#include "client/lib/daemon.h"
#include "client/lib/local.h"
#include "client/lib/report.h"
#include "client/lib/target.h"
#include "client/mcp/mcp.h"
#include "client/mcp/message.h"
#include "client/mcp/requests.h"

#define DAEMONS	64
#define POLLED	32

static int	in_fd = -1, out_fd = -1;
static int	daemons[DAEMONS];	/* their ends, the oldest first */
static size_t	ndaemons;
static bool	odd;			/* one said what is no JSON: */
					/* it is passed on as it came */
static uint8_t	trouble;		/* what connecting comes to */
static struct mcp_input input;

int
local_connect(const char *path, bool perhaps, int *code)
{
	int fds[2];

	(void)path;
	if (trouble % 8 == 7)
		*code = CTL_UNREACHABLE;
	if (trouble % 8 >= 6 || (ndaemons == DAEMONS && !perhaps))
		report("there is none");
	if (trouble % 8 >= 6 || ndaemons == DAEMONS)
		return -1;
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, fds) == 0);
	daemons[ndaemons++] = fds[1];
	return fds[0];
}

int
daemon_start(const struct target *t, int *code)
{
	(void)t;
	*code = CTL_UNREACHABLE;
	return -1;
}

/* -- the client ------------------------------------------------------------ */

static bool
is_json(const char *line, size_t len)
{
	struct json_tokener *t = json_tokener_new_ex(100);
	struct json_object *o = json_tokener_parse_ex(t, line, (int)len);
	bool is = json_object_is_type(o, json_type_object) ||
	    json_object_is_type(o, json_type_array);

	json_object_put(o);
	json_tokener_free(t);
	return is;
}

static bool
flush(void)
{
	bool goes_on;

	report_hold();
	fault_begin();
	goes_on = mcp_flush();
	fault_end();
	free(report_release());
	return goes_on;
}

static void
read_lines(void)
{
	static char buf[1 << 20];
	static size_t have;
	char *nl, *p = buf;
	ssize_t n;

	while (flush() && (n = read(out_fd, buf + have,
	    sizeof(buf) - have - 1)) > 0)
		have += (size_t)n;
	buf[have] = '\0';
	while ((nl = memchr(p, '\n', have - (size_t)(p - buf))) != NULL) {
		*nl = '\0';
		must(odd || is_json(p, (size_t)(nl - p)));
		p = nl + 1;
	}
	have -= (size_t)(p - buf);
	memmove(buf, p, have);
}

static void
too_long(const struct mcp_long *l)
{
	struct json_object *id = mcp_long_id(l);

	if (id != NULL || !l->method)
		mcp_put_error(id, MCP_INVALID_REQUEST, "too long");
	json_object_put(id);
}

/* As main() does it. */
static void
step(void)
{
	struct pollfd pfds[POLLED];
	const struct mcp_long *over;
	size_t len, n;
	char *line;

	must(mcp_requests_progress() >= -1);
	n = mcp_requests_poll(pfds, POLLED);
	(void)poll(pfds, (nfds_t)n, 0);
	while (mcp_requests_room() &&
	    (line = mcp_input_line(&input, &len, &over)) != NULL)
		if (over != NULL)
			too_long(over);
		else
			mcp_take(line, len);
	mcp_requests_run(pfds, n);
	read_lines();
}

/* Repeated so often that it is more than a message may be, if asked for. */
static void
write_input(struct input part, uint8_t times)
{
	size_t i;

	for (i = 0; i < (times < 250 ? 1 : times * 4U); i++) {
		if (part.left == 0 || write(in_fd, part.p, part.left) !=
		    (ssize_t)part.left)
			return;
		must(!mcp_requests_room() || mcp_input_read(&input));
		step();
	}
}

/* -- the daemons ----------------------------------------------------------- */

static void
drain(void)
{
	static char buf[65536];
	size_t i;

	for (i = 0; i < ndaemons; i++)
		while (recv(daemons[i], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			continue;
}

static void
end_daemon(size_t i)
{
	close(daemons[i]);
	memmove(&daemons[i], &daemons[i + 1],
	    (--ndaemons - i) * sizeof(daemons[0]));
}

/* An answer of the protocol's, or what the input says. */
static void
say(size_t i, struct input part, bool rightly)
{
	char text[600];
	int n;

	if (rightly)
		n = snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":"
		    "%.*s,\"result\":{\"protocolVersion\":\"%.*s\"}}\n",
		    (int)part.left, part.p, (int)(part.left / 2), part.p);
	else
		n = snprintf(text, sizeof(text), "%.*s", (int)part.left,
		    part.p);
	if ((size_t)n >= sizeof(text))
		n = sizeof(text) - 1;
	odd |= strchr(text, '\n') != text + n - 1 ||
	    !is_json(text, (size_t)n);
	(void)send(daemons[i], text, (size_t)n, MSG_NOSIGNAL);
}

static void
act(uint8_t what, uint8_t which, struct input part)
{
	size_t i = ndaemons == 0 ? 0 : which % ndaemons;

	switch (what % 8) {
	case 0:
	case 1:
	case 2:
		write_input(part, which);
		break;
	case 3:
	case 4:
		if (ndaemons > 0)
			say(i, part, what % 8 == 3);
		break;
	case 5:
		if (ndaemons > 0)
			end_daemon(i);
		break;
	case 6:
		fake_ms += which * 100U;
		break;
	default:
		trouble = which;
		break;
	}
}

/* Removes all that an input has left behind. */
static void
clean_up(void)
{
	static char buf[65536];

	mcp_requests_end();
	must(mcp_requests_count() == 0);
	while (ndaemons > 0)
		end_daemon(0);
	while (mcp_unsent() > 0)
		read_lines();
	(void)write(in_fd, "\n", 1);
	while (read(STDIN_FILENO, buf, sizeof(buf)) > 0)
		continue;
	memset(&input, 0, sizeof(input));
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct target target = { .kind = TARGET_UNIX, .path = "/x" };
	int fds[2], null_fd;

	(void)argc;
	(void)argv;
	signal(SIGPIPE, SIG_IGN);
	must(pipe2(fds, O_NONBLOCK) == 0 && dup2(fds[0], 0) == 0);
	in_fd = fds[1];
	must(pipe2(fds, O_NONBLOCK) == 0 && dup2(fds[1], 1) == 1);
	out_fd = fds[0];
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	must(null_fd != -1);
	must(clearenv() == 0 && setenv("PATH", "/bin", 1) == 0 &&
	    setenv("LONG", "1234567890123456789012345678901234567890", 1) ==
	    0 && setenv("NO_TEXT", "\xff", 1) == 0);
	/* what is left is a pipe that is full, or nobody's */
	fault_never = ~(1U << FAULT_WRITE);
	mcp_requests_init(&target, true);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t what, which;
	struct input in;

	(void)fault_plan(&data, &len);
	in = (struct input){ data, len };
	trouble = 0;
	odd = false;
	while (in.left > 2) {
		what = take_u8(&in);
		which = take_u8(&in);
		act(what, which, take_part(&in, what % 8 < 5 ?
		    take_u16(&in) % 1024U : 0));
		step();
		drain();
	}
	input.ended = true;
	step();
	fault_forget();
	clean_up();
	return 0;
}
