/* SPDX-License-Identifier: ISC */
/* links: netproc/ !netproc/main.c !netproc/sysfilter.c common/ !common/wire/dispatch.c */
/* covers: netproc/cmd/payload.c netproc/conn/conn.c */
/*
 * Fuzz target of a whole connection: the input is what a client sends, in
 * pieces of odd sizes, while a spawner with a mind of its own answers.  A
 * plain reading of the same bytes tells how many answers there must be and
 * what each upload must have stored: no byte of a payload may ever be taken
 * for a command, nor the reverse.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <unistd.h>

#define FUZZ_LOOP
#include "regress/fuzz/fuzz.h"

#include "base/errors.h"
#include "netproc/cmd/commands.h"
#include "netproc/cmd/request.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/identity.h"
#include "netproc/conn/replica.h"
#include "netproc/text/line.h"
#include "wire/msg_out.h"
#include "wire/role.h"

#define SELF_ROLE NETPROC
#include "common/wire/dispatch.c"

#define ROOM_MAX	(256 * 1024)
#define DISCARD_MAX	((uint64_t)1 << 30)
#define IDLE_TURNS	64

static int	spawner_fd = -1;	/* the spawner's end */
static int	room_fd = -1;		/* what an upload fills */
static uint64_t	room_size;
static size_t	stored;			/* uploads that were completed */

/* Results of the plain reading of the input. */
static struct {
	const uint8_t	*payload[64];
	size_t		 uploads, answers;
} want;

static void
start(void)
{
	int fds[2];

	quiet();
	settings.connection_memory = 256 * 1024;
	settings.max_connections_per_user = 10;
	must(loop_init() == 0);
	request_init();
	chan_init(&parent_chan, ROLE_NETPROC, ROLE_PARENT, NULL, NULL);
	ask_init();
	identity_init();
	command_init();
	conn_init();
	must(chan_pair(fds) == 0);
	ask_peer(fds[0], 1);
	spawner_fd = fds[1];
}

/* -- the spawner ---------------------------------------------------------- */

static void
reply(const struct msg_hdr *to, enum msg_type type, int fd)
{
	static struct channel ch = { .fd = -1, .generation = 1 };
	struct msg_out *o = msg_new(type, &to->session, to->conn, to->request);

	ch.fd = spawner_fd;
	if (type == MSG_ROOM)
		msg_put_u64(o, room_size);
	else {
		msg_put_u32(o, 1);
		msg_put_str(o, "no");
	}
	must(chan_send(&ch, o, fd) == 0);
}

static void
on_upload(const struct msg_hdr *h, const uint8_t *payload)
{
	memcpy(&room_size, payload, sizeof(room_size));
	must(room_size > 0);
	if (room_size > ROOM_MAX || room_size % 5 == 4) {
		reply(h, MSG_RESULT, -1);
		return;
	}
	must(room_fd == -1);
	room_fd = memfd_create("room", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	must(room_fd != -1 && ftruncate(room_fd, (off_t)room_size) == 0);
	reply(h, MSG_ROOM, dup(room_fd));
}

static void
on_uploaded(const struct msg_hdr *h)
{
	uint8_t *map;

	must(room_fd != -1 && stored < want.uploads);
	map = mmap(NULL, room_size, PROT_READ, MAP_SHARED, room_fd, 0);
	must(map != MAP_FAILED);
	if (want.payload[stored] != NULL)
		must(memcmp(map, want.payload[stored], room_size) == 0);
	munmap(map, room_size);
	close(room_fd);
	room_fd = -1;
	stored++;
	reply(h, MSG_RESULT, -1);
}

/* Answers everything with a refusal, but for uploads. */
static void
spawner(void)
{
	static uint8_t buf[sizeof(struct msg_hdr) + MSG_PAYLOAD_MAX];
	struct msg_hdr h;
	ssize_t n;

	while ((n = recv(spawner_fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		must((size_t)n >= sizeof(h));
		memcpy(&h, buf, sizeof(h));
		if (h.type == MSG_UPLOAD)
			on_upload(&h, buf + sizeof(h));
		else if (h.type == MSG_UPLOADED)
			on_uploaded(&h);
		else if (h.type == MSG_UPLOAD_ABORT) {
			must(room_fd != -1);
			close(room_fd);
			room_fd = -1;
		} else if (h.type != MSG_CONN_CLOSED)
			reply(&h, MSG_RESULT, -1);
	}
}

/* -- the plain reading ---------------------------------------------------- */

/* Bytes that follow a line; -1 = the connection ends with its answer. */
static int64_t
payload_of(const struct words *ws, bool *upload)
{
	struct upload_request r;
	uint64_t size = 0;

	*upload = false;
	if (word_is(&ws->w[0], "UPLOAD")) {
		upload_parse(ws, &r);
		*upload = r.err == ERR_OK && r.size <= ROOM_MAX &&
		    r.size % 5 != 4;
		return !r.known || (r.size > DISCARD_MAX) ? -1 :
		    (int64_t)r.size;
	}
	/* nobody guesses a nonce, and there is no second try */
	if (word_is(&ws->w[0], "HELLO"))
		return ws->n == 2 ? -1 : 0;
	if (!word_is(&ws->w[0], "INPUT"))
		return 0;
	if (ws->n == 3 && word_is(&ws->w[2], "eof"))
		return 0;
	if (ws->n != 3 || number_parse(&ws->w[2], DISCARD_MAX, &size) != NULL)
		return -1;
	return (int64_t)size;
}

/* The same of a line in JSON. */
static int64_t
payload_of_request(const char *p, size_t len, bool *upload)
{
	struct request r;

	*upload = false;
	request_parse(p, len, &r);
	if (r.err == ERR_OK)
		return payload_of(&r.words, upload);
	if (r.follows == FOLLOWS_NOTHING)
		return 0;
	return r.follows == FOLLOWS_UNKNOWN || r.size > DISCARD_MAX ? -1 :
	    (int64_t)r.size;
}

/* Gets the size of what follows a line of words; false = reading ends. */
static bool
read_words(const char *p, size_t len, int64_t *size, bool *upload)
{
	struct words ws;

	*size = 0;
	line_split(p, len, &ws);
	if (line_is_http(&ws))
		return false;
	if (line_has_control(p, len)) {
		want.answers++;
		return false;
	}
	/* nothing is answered to an empty line */
	if (ws.n == 0)
		want.answers--;
	else
		*size = payload_of(&ws, upload);
	return true;
}

/* Takes one line; false = nothing after it is read. */
static bool
read_line(const uint8_t **p, size_t *left)
{
	const char *line = (const char *)*p;
	size_t scanned = 0, len, used;
	bool upload = false;
	int64_t size;

	switch (line_find((const char *)*p, *left < LINE_BUFFER ? *left :
	    LINE_BUFFER, &scanned, &len, &used)) {
	case LINE_TOO_LONG:
		want.answers++;
		return false;
	case LINE_READY:
		break;
	default:
		return false;
	}
	if (len > 0 && line[0] == '{')
		size = payload_of_request(line, len, &upload);
	else if (!read_words(line, len, &size, &upload))
		return false;
	*p += used;
	*left -= used;
	/* a refusal comes before the payload, anything else after it */
	want.answers += !upload || (uint64_t)size <= *left;
	if (size < 0 || (uint64_t)size > *left)
		return false;
	if (upload && want.uploads < 64)
		want.payload[want.uploads++] = *p;
	*p += size;
	*left -= (size_t)size;
	return true;
}

static void
plain_reading(const uint8_t *p, size_t left)
{
	memset(&want, 0, sizeof(want));
	while (left > 0 && want.uploads < 64 && read_line(&p, &left))
		continue;
}

/* -- the client ----------------------------------------------------------- */

static size_t
count_answers(int fd)
{
	static char buf[65536];
	size_t lines = 0;
	ssize_t n, i;

	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		for (i = 0; i < n; i++)
			lines += buf[i] == '\n';
	return lines;
}

static void
connect_client(int fd)
{
	struct conn *c = conn_new(fd, 0);

	must(c != NULL);
	c->owner = owner_ref(1000, false);
	must(c->owner != NULL);
	c->owner->nconns++;
	c->synced = true;
	/* AUTH comes too late, which does not end the connection */
	c->spoke = true;
	conn_enter(c, &mode_line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step, n, answers = 0;
	int fds[2], idle = 0;

	if (spawner_fd == -1)
		start();
	if (size < 2)
		return 0;
	/* the first byte says into how small pieces the rest is cut */
	step = data[0] == 0 ? size : data[0];
	data++;
	size--;
	plain_reading(data, size);
	if (want.uploads == 64)
		return 0;
	stored = 0;
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
	    fds) == 0);
	connect_client(fds[0]);
	while (conn_count > 0 && idle++ < IDLE_TURNS) {
		n = size < step ? size : step;
		if (n > 0) {
			ssize_t sent = send(fds[1], data, n, MSG_NOSIGNAL);

			if (sent > 0) {
				data += sent;
				size -= (size_t)sent;
				idle = 0;
			} else if (sent == -1 && idle > 1)
				size = 0;
		} else
			(void)shutdown(fds[1], SHUT_WR);
		turn(0);
		spawner();
		n = count_answers(fds[1]);
		if (n > 0)
			idle = 0;
		answers += n;
	}
	must(conn_count == 0);
	answers += count_answers(fds[1]);
	must(answers == want.answers);
	must(stored == want.uploads && room_fd == -1);
	close(fds[1]);
	spawner();
	return 0;
}
