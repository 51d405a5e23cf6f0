/* SPDX-License-Identifier: ISC */
/* links: netproc/ !netproc/main.c !netproc/sysfilter.c common/ !common/wire/dispatch.c */
/* covers: netproc/web/route.c netproc/web/webargs.c netproc/web/webadmit.c netproc/web/webreq.c netproc/web/webport.c netproc/web/webup.c netproc/web/webcmd.c netproc/web/webpage.c netproc/web/ptyweb.c netproc/web/http.c netproc/web/webform.c netproc/term/ws.c netproc/conn/conn.c netproc/cmd/payload.c netproc/cmd/audit.c */
/*
 * Fuzz target of the listeners: a client sends to that of the web, or to that
 * of the control protocol, in pieces.  The spawner knows the client, has a
 * session for it and answers as the input says; calls may fail.  The first byte
 * is the listener's, the second the size of the pieces, the third how many
 * answers of the spawner follow.  The web must answer with responses, and in
 * the end nothing may be left of the client.
 */
#include <sys/mman.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define FUZZ_CLOCK
#define FUZZ_LOOP
#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"
#include "regress/fuzz/fuzz_chan.h"

#include "netproc/cmd/commands.h"
#include "netproc/cmd/debug_port.h"
#include "netproc/cmd/keys.h"
#include "netproc/cmd/request.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/feed.h"
#include "netproc/conn/identity.h"
#include "netproc/conn/replica.h"
#include "netproc/mcp/mcp.h"
#include "netproc/term/attach.h"
#include "netproc/term/termmsg.h"
#include "netproc/web/webreq.h"
#include "wire/role.h"

#define SELF_ROLE NETPROC
#include "common/wire/dispatch.c"

#define UID		1000
#define ROOM_MAX	(64 * 1024)
#define FILE_SIZE	(512 * 1024)
#define TURNS		12	/* without anything new */

static int		spawner_fd = -1, idproc_fd = -1;
static struct ring	ring;
static const struct sid	the_session = { { 0xaa, 0xbb, 1 } };
/* the spawner's mind, one byte an answer, again and again */
static int		file_fd = -1;	/* a sysroot */
static int		reader_fd = -1;	/* of a program's input */
static bool		leaves;		/* the spawner, very soon */
static struct input	mind;
static const uint8_t	*mind_start;
static size_t		mind_len;

static uint8_t
mood(void)
{
	if (mind.left == 0)
		mind = (struct input){ mind_start, mind_len };
	return take_u8(&mind);
}

static void
say(struct msg_out *o, int fd)
{
	/* netproc may have cut us off: that is for the end of the input */
	(void)chan_say(spawner_fd, o, 1, fd);
}

static void
say_session(uint8_t how)
{
	static const enum session_state states[] = { STATE_LOADED,
	    STATE_RUNNING, STATE_DEBUGGING, STATE_STOPPED };
	struct session_view v = { .owner = UID, .owner_name = "user",
	    .state = states[how % 4], .run = how % 4 == 0 ? 0 : 1,
	    .pid = how % 4 == 1 || how % 4 == 2 ? 77 : 0,
	    .tty = (how & 4) != 0, .cols = 80, .rows = 24,
	    .command = (how & 16) == 0, .bundle = (how & 16) != 0,
	    .debugger = (how & 8) != 0,
	    .tracer = (how & 16) != 0, .name = "label",
	    .exec_path = "bin/it",
	    .cmd = "cat\0-n", .cmd_len = 7, .env = "A=b", .env_len = 4,
	    .shares = "bob:ro", .shares_len = 7 };
	struct msg_out *o = msg_new(MSG_SESSION, &the_session, 0, 0);

	view_put(o, &v);
	say(o, -1);
	o = msg_new(MSG_SEES, &the_session, 0, 0);
	msg_put_u32(o, UID);
	msg_put_u32(o, EYES_OWN);
	msg_put_u32(o, how & 32 ? ACCESS_SEE : ACCESS_OWN);
	say(o, -1);
	if (v.run == 0)
		return;
	o = msg_new(MSG_RING, &the_session, 0, 0);
	msg_put_u32(o, 1);
	say(o, ring.fd);
}

static void
say_result(const struct msg_hdr *to, uint32_t err)
{
	struct msg_out *o = msg_new(MSG_RESULT, &the_session, to->conn,
	    to->request);

	msg_put_u32(o, err);
	msg_put_str(o, err == ERR_OK ? "" : "so it is");
	say(o, -1);
}

/* -- idproc: who it is that came ------------------------------------------- */

static void
say_who(uint32_t conn, uint8_t how)
{
	struct msg_out *o = msg_new(MSG_PEER_IS, NULL, conn, 0);
	bool stranger = how % 8 == 1;

	msg_put_u32(o, how % 8 == 2 ? PEER_REFUSED : stranger ?
	    PEER_UNAUTHENTICATED : PEER_KNOWN);
	msg_put_u32(o, stranger ? UID_UNKNOWN : UID);
	msg_put_u32(o, 0);
	msg_put_str(o, stranger ? "" : "user");
	msg_put_str(o, "192.0.2.1:5");
	msg_put_str(o, how % 8 == 2 ? "no" : "");
	(void)chan_say(idproc_fd, o, 1, -1);
	if (!stranger)
		say_session(how >> 3);
	say(msg_new(MSG_SYNCED, NULL, conn, 0), -1);
}

static void
idproc(void)
{
	struct msg m;

	while (chan_hear(idproc_fd, &m)) {
		if (m.hdr.type == MSG_WHO)
			say_who(m.hdr.conn, mood());
		if (m.fd != -1)
			close(m.fd);
	}
}

/* -- the spawner ----------------------------------------------------------- */

static void
say_authed(const struct msg_hdr *to)
{
	struct msg_out *o;

	say_session(mood());
	o = msg_new(MSG_AUTHED, NULL, to->conn, to->request);
	msg_put_u32(o, UID);
	msg_put_u32(o, PRINCIPAL_BY_TOKEN);
	msg_put_str(o, "user");
	say(o, -1);
	say_result(to, ERR_OK);
}

static void
say_room(const struct msg_hdr *to, uint64_t size)
{
	struct msg_out *o = msg_new(MSG_ROOM, &the_session, to->conn,
	    to->request);
	int fd = memfd_create("room", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (size > ROOM_MAX)
		size = ROOM_MAX;
	must(fd != -1 && ftruncate(fd, (off_t)size) == 0);
	msg_put_u64(o, size);
	say(o, fd);
	close(fd);
}

static void
say_identity(const struct msg_hdr *to)
{
	struct msg_out *o = msg_new(MSG_IDENTITY, NULL, to->conn,
	    to->request);

	msg_put_str(o, "web");
	msg_put_str(o, "192.0.2.1:5");
	msg_put_str(o, "");
	say(o, -1);
}

static void
say_key(const struct msg_hdr *to)
{
	struct msg_out *o = msg_new(MSG_KEY, &to->session, to->conn,
	    to->request);
	char key[KEY_TEXT + 1];

	(void)snprintf(key, sizeof(key), "dlc_%0*d", KEY_TEXT - 4, 7);
	msg_put_str(o, key);
	msg_put_str(o, key);
	msg_put_u64(o, 5000);
	say(o, -1);
}

/* A program that reads, but only later, or one that does not any more. */
static void
say_input_fd(const struct msg_hdr *to, bool reads)
{
	int fds[2];

	must(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	say(msg_new(MSG_INPUT_FD, &to->session, to->conn, to->request),
	    fds[1]);
	close(fds[1]);
	if (!reads || reader_fd != -1) {
		close(fds[0]);
		return;
	}
	reader_fd = fds[0];
	(void)fcntl(reader_fd, F_SETPIPE_SZ, 4096);
}

static void
program_reads(void)
{
	static char buf[4096];

	if (reader_fd != -1)
		(void)!read(reader_fd, buf, sizeof(buf));
}

/* Larger than what is held for a client; perhaps not all of it is there. */
static void
say_sysroot(const struct msg_hdr *to, uint8_t how)
{
	struct msg_out *o = msg_new(MSG_SYSROOT_FD, NULL, to->conn,
	    to->request);

	msg_put_u64(o, how % 4U * (FILE_SIZE / 2));
	say(o, file_fd);
}

static void
say_audit(const struct msg_hdr *to, uint64_t from, uint8_t n)
{
	struct msg_out *o = msg_new(MSG_AUDIT_LINES, NULL, to->conn,
	    to->request);
	unsigned int i;

	msg_put_u64(o, from);
	msg_put_u32(o, n % 4);
	for (i = 0; i < n % 4U * 7; i++)
		msg_put_str(o, i % 7 == 4 && (n & 4) ? "" : "text\" \n");
	if (n & 8)
		msg_put_u32(o, n);
	say(o, -1);
}

static void
say_mark(const struct msg_hdr *to)
{
	struct msg_out *o = msg_new(MSG_TTY_MARKED, &to->session, to->conn,
	    to->request);

	msg_put_u64(o, 0);
	msg_put_u32(o, 80);
	msg_put_u32(o, 24);
	msg_put_str(o, "\033c");
	say(o, -1);
}

static void
say_answer(const struct msg_hdr *to, uint32_t type)
{
	static const char json[] = "{\"jsonrpc\":\"2.0\",\"ok\":[1,\"2\"]}";
	struct msg_out *o = msg_new(MSG_INST_ANSWER, &to->session, to->conn,
	    to->request);

	msg_put_u32(o, type);
	msg_put_u32(o, mood() & 1 ? INST_FAILED : 0);
	msg_put_bytes(o, json, sizeof(json) - 1);
	say(o, -1);
}

/* As it should be; false: that is nothing but a RESULT. */
static bool
say_rightly(struct msg *m, uint8_t how)
{
	switch (m->hdr.type) {
	case MSG_AUTH:
		say_authed(&m->hdr);
		return true;
	case MSG_UPLOAD:
	case MSG_UPLOAD_OPEN:
		say_room(&m->hdr, msg_get_u64(m));
		leaves = (how & 32) != 0;
		return true;
	case MSG_WHOAMI:
		say_identity(&m->hdr);
		return true;
	case MSG_KEY_MAKE:
		say_key(&m->hdr);
		return true;
	case MSG_INPUT:
		say_input_fd(&m->hdr, (how & 16) != 0);
		return true;
	case MSG_SYSROOT:
		say_sysroot(&m->hdr, how >> 4);
		return true;
	case MSG_AUDIT:
		say_audit(&m->hdr, msg_get_u64(m), how >> 4);
		return true;
	case MSG_TTY_MARK:
		say_mark(&m->hdr);
		return true;
	case MSG_INST_ASK:
	case MSG_INST_START:
		say_answer(&m->hdr, msg_get_u32(m));
		return true;
	default:
		return false;
	}
}

static void
connect_spawner(void)
{
	int fds[2];

	if (spawner_fd != -1)
		close(spawner_fd);
	must(chan_pair(fds) == 0);
	ask_peer(fds[0], 1);
	spawner_fd = fds[1];
}

static void
answer(struct msg *m)
{
	uint8_t how = mood();

	/* nothing is said of these */
	if (m->hdr.request == 0)
		return;
	/* another one, which knows of nothing */
	if (how == 0x7f) {
		connect_spawner();
		return;
	}
	if (how % 4 == 3)
		say_result(&m->hdr, ERR_OK + 1U + how % (ERR_COUNT - 1U));
	else if (how % 4 == 2)
		say_session(how >> 2);
	if (how % 4 != 3 && !say_rightly(m, how))
		say_result(&m->hdr, ERR_OK);
}

static bool
spawner(void)
{
	bool any = false;
	struct msg m;

	if (leaves)
		connect_spawner();
	leaves = false;
	for (; chan_hear(spawner_fd, &m); any = true) {
		answer(&m);
		if (m.fd != -1)
			close(m.fd);
	}
	return any;
}

/* -- the client ------------------------------------------------------------ */

/* Bytes that came; at the beginning they are HTTP. */
static size_t
read_response(int fd, bool first)
{
	static char buf[65536];
	ssize_t n, all = 0;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		if (first && all == 0)
			must(n >= 9 && memcmp(buf, "HTTP/1.", 7) == 0);
		all += n;
	}
	return (size_t)all;
}

static void
connect_roles(void)
{
	int fds[2];

	connect_spawner();
	if (idproc_fd != -1)
		close(idproc_fd);
	must(chan_pair(fds) == 0);
	identity_peer(fds[0], 1);
	idproc_fd = fds[1];
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct iovec iov[2];
	int i;

	(void)argc;
	(void)argv;
	signal(SIGPIPE, SIG_IGN);
	quiet();
	settings.connection_memory = 256 * 1024;
	settings.max_connections_per_user = settings.max_connections = 20;
	settings.line_timeout = 30;
	settings.idle_timeout = 60;
	must(loop_init() == 0 && ring_create(&ring, 65536) == 0);
	file_fd = memfd_create("sysroot", MFD_CLOEXEC);
	must(file_fd != -1 && ftruncate(file_fd, FILE_SIZE) == 0);
	i = ring_space(&ring, 65536, iov);
	must(i > 0);
	memset(iov[0].iov_base, 'o', 100);
	ring_commit(&ring, 100, 1);
	chan_init(&parent_chan, ROLE_NETPROC, ROLE_PARENT, NULL, NULL);
	request_init();
	termmsg_init();
	ask_init();
	identity_init();
	command_init();
	debug_init();
	attach_init();
	mcp_init();
	web_req_init();
	feed_init();
	connect_roles();
	turn(1);
	return 0;
}

/* The control protocol's door. */
static bool
is_control(uint8_t how)
{
	return how >= 0xe0 && how < 0xf0;
}

static void
enter_control(int fd, uint8_t how)
{
	static const uint32_t flags[] = { 0, LISTENER_AUTH_NONE,
	    LISTENER_TLS, LISTENER_PLAIN };
	struct conn *c = conn_new(fd, flags[how % 4]);

	if (c == NULL)
		return;
	identity_start(c);
	conn_run(c);
}

static int
enter(uint8_t how)
{
	static const uint32_t flags[] = { LISTENER_WEB, LISTENER_WEB |
	    LISTENER_AUTH_NONE, LISTENER_WEB | LISTENER_TLS,
	    LISTENER_WEB | LISTENER_PLAIN };
	struct sockaddr_storage from = { .ss_family = AF_INET };
	int fds[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, fds) == 0);
	fault_begin();
	if (is_control(how))
		enter_control(fds[0], how);
	else
		http_accept(fds[0], flags[how % 4], &from, how >= 0xf8);
	fault_end();
	return fds[1];
}

/* Sends the input and reads what comes, until nothing does any more. */
static void
converse(int fd, struct input *in, size_t step, uint8_t how)
{
	bool web = !is_control(how);
	size_t all = 0, got;
	int idle;
	ssize_t n;

	for (idle = 0; idle < TURNS; idle++) {
		n = in->left == 0 ? 0 : send(fd, in->p, in->left < step ?
		    in->left : step, MSG_NOSIGNAL);
		if (n > 0) {
			(void)take_part(in, (size_t)n);
			idle = 0;
		} else if (n == -1)
			in->left = 0;
		turn(1);
		idproc();
		if (spawner())
			idle = 0;
		turn(0);
		if ((got = read_response(fd, web && all == 0)) > 0)
			idle = 0;
		all += got;
	}
	/* who goes says so, but for some of the control protocol */
	if (web || (how & 8) == 0)
		(void)shutdown(fd, SHUT_WR);
	for (idle = 0; idle < TURNS; idle++) {
		turn(idle < 4 ? 1 : 20000);
		idproc();
		(void)spawner();
		program_reads();
		all += read_response(fd, web && all == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	bool fails = fault_plan(&data, &len);
	struct input in = { data, len };
	uint8_t how = take_u8(&in);
	size_t step = (size_t)take_u8(&in);
	int fd, before;

	mind = take_part(&in, take_u8(&in) % 32);
	mind_start = mind.p;
	mind_len = mind.left;
	before = count_fds();
	fd = enter(how);
	converse(fd, &in, step == 0 ? len + 1 : step, how);
	close(fd);
	if (fails)
		fault_forget();
	if (reader_fd != -1)
		close(reader_fd);
	reader_fd = -1;
	/* fail the requests that still wait; some connections linger */
	connect_roles();
	for (how = 0; how < 6 || (how < 40 && conn_count > 0); how++) {
		turn(30000);
		idproc();
		(void)spawner();
	}
	must(conn_count == 0 && count_fds() == before);
	return 0;
}
