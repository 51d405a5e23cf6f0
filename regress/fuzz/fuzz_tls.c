/* SPDX-License-Identifier: ISC */
/* links: tlsproc/conn.c tlsproc/handover.c tlsproc/certname.c tlsproc/selfsigned.c common/wire/accept.c common/wire/chan.c common/base/errors.c common/wire/fdkind.c common/base/log.c common/base/loop.c common/wire/msg.c common/wire/roles.c */
/* covers: tlsproc/conn.c tlsproc/handover.c */
/*
 * Fuzz target of the framing of TLS: a connection between a client, who is
 * libtls or sends bytes that are no TLS at all, and netproc's end of the pair.
 * The input says who writes, reads, ends or breaks off in which order; what
 * comes out on one side is what went in on the other, and nothing else.
 */
#include <sys/socket.h>

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <tls.h>
#include <unistd.h>

#define FUZZ_CLOCK
#define FUZZ_LOOP
#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"
#include "regress/fuzz/fuzz_chan.h"

#include "common/wire/role.h"
#include "tlsproc/conn.h"
#include "tlsproc/handover.h"
#include "tlsproc/keys.h"
#include "tlsproc/listener.h"
#include "tlsproc/selfsigned.h"

#define MOST	3	/* connections */

const msg_handler	msg_handlers[MSG_COUNT];
struct settings		settings;

static struct tls	*server;
static struct tls_config *client_config, *named_config;
static size_t		 limit = MOST;
static int		 idproc_fd = -1, netproc_fd = -1;

struct tls *
keys_server(void)
{
	return server;
}

size_t
listener_most(void)
{
	return limit;
}

/* A peer may be lost; none breaks the table, as these are ours. */
void
role_peer_gone(const struct channel *c, const char *why)
{
	(void)c;
	must(why == NULL);
}

/* A connection, from both of its ends. */
struct side {
	int		 tcp_fd;	/* the client's; -1 = there is none */
	int		 plain_fd;	/* netproc's */
	struct tls	*tls;		/* NULL: the client speaks none */
	uint8_t		 sent, heard;	/* the next byte up, of a count */
	uint8_t		 told, got;	/* the same down */
	bool		 shaken;
};

static struct side sides[MOST];

/* -- idproc and netproc ---------------------------------------------------- */

static void
connect_role(enum role role, int *end_fd)
{
	int fds[2];

	if (*end_fd != -1)
		close(*end_fd);
	must(chan_pair(fds) == 0);
	*end_fd = fds[1];
	fault_begin();
	handover_peer(role, fds[0], 1);
	fault_end();
}

/* They come in the order in which the hands were shaken. */
static void
adopt(int fd)
{
	size_t i;

	for (i = 0; i < MOST; i++)
		if (sides[i].tls != NULL && sides[i].plain_fd == -1 &&
		    sides[i].shaken) {
			sides[i].plain_fd = fd;
			return;
		}
	close(fd);
}

static void
hear(void)
{
	struct msg m;

	while (chan_hear(idproc_fd, &m))
		if (m.fd != -1)
			close(m.fd);
	while (chan_hear(netproc_fd, &m)) {
		must(m.hdr.type == MSG_TLS_CONN && m.fd != -1);
		adopt(m.fd);
	}
}

/* -- the client ------------------------------------------------------------ */

static void
client_new(struct side *s, bool speaks, bool named)
{
	struct sockaddr_storage from = { .ss_family = AF_INET };
	int fds[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, fds) == 0);
	if (!speaks)
		from.ss_family = AF_INET6;
	*s = (struct side){ .tcp_fd = fds[1], .plain_fd = -1 };
	fault_begin();
	tls_conn_new(fds[0], 0, &from);
	fault_end();
	if (!speaks)
		return;
	s->tls = tls_client();
	must(s->tls != NULL && tls_configure(s->tls, named ?
	    named_config : client_config) == 0);
	must(tls_connect_socket(s->tls, s->tcp_fd, "fuzz") == 0);
}

static void
client_end(struct side *s, bool rightly)
{
	if (s->tls != NULL && rightly)
		(void)tls_close(s->tls);
	tls_free(s->tls);
	if (s->tcp_fd != -1)
		close(s->tcp_fd);
	if (s->plain_fd != -1)
		close(s->plain_fd);
	*s = (struct side){ .tcp_fd = -1, .plain_fd = -1 };
}

static void
check_count(const uint8_t *p, ssize_t n, uint8_t *next)
{
	ssize_t i;

	for (i = 0; i < n; i++)
		must(p[i] == (*next)++);
}

static void
shake(struct side *s)
{
	int i;

	for (i = 0; i < 8 && !s->shaken; i++) {
		s->shaken = tls_handshake(s->tls) == 0;
		turn(0);
	}
	hear();
}

static size_t
count_up(uint8_t *p, size_t n, uint8_t next)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = next++;
	return n;
}

/* The client sends, a count if it is TLS. */
static void
send_up(struct side *s, size_t n, struct input *in)
{
	static uint8_t buf[65536];
	ssize_t sent;

	n = n > sizeof(buf) ? sizeof(buf) : n;
	if (s->tls == NULL) {
		struct input part = take_part(in, n);

		(void)send(s->tcp_fd, part.p, part.left, MSG_NOSIGNAL);
		return;
	}
	if (!s->shaken)
		return;
	sent = tls_write(s->tls, buf, count_up(buf, n, s->sent));
	if (sent > 0)
		s->sent = (uint8_t)(s->sent + sent);
}

/* Netproc's end: it has no TLS. */
static void
send_down(struct side *s, size_t n)
{
	static uint8_t buf[65536];
	ssize_t sent;

	n = n > sizeof(buf) ? sizeof(buf) : n;
	if (s->plain_fd == -1)
		return;
	sent = send(s->plain_fd, buf, count_up(buf, n, s->told),
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent > 0)
		s->told = (uint8_t)(s->told + sent);
}

static void
read_both(struct side *s)
{
	static uint8_t buf[65536];
	ssize_t n;

	if (s->plain_fd != -1 && (n = recv(s->plain_fd, buf, sizeof(buf),
	    MSG_DONTWAIT)) > 0)
		check_count(buf, n, &s->heard);
	if (s->tls == NULL)
		(void)!recv(s->tcp_fd, buf, sizeof(buf), MSG_DONTWAIT);
	else if (s->shaken && (n = tls_read(s->tls, buf, sizeof(buf))) > 0)
		check_count(buf, n, &s->got);
}

/* Bytes on the wire that TLS did not write. */
static void
disturb(struct side *s, struct input *in)
{
	struct input part = take_part(in, take_u8(in));

	if (part.left > 0)
		(void)send(s->tcp_fd, part.p, part.left, MSG_NOSIGNAL);
}

static void
act(struct side *s, uint8_t what, struct input *in)
{
	size_t n = take_u8(in);

	switch (what % 12) {
	case 0:
		send_up(s, n * n, in);
		break;
	case 1:
		send_down(s, n * n);
		break;
	case 2:
	case 3:
		read_both(s);
		break;
	case 4:
		if (s->tls != NULL && !s->shaken)
			shake(s);
		break;
	case 5:
		disturb(s, in);
		break;
	case 6:
		client_end(s, (n & 1) != 0);
		break;
	case 7:
		if (s->plain_fd != -1 && (n & 1))
			(void)shutdown(s->plain_fd, SHUT_WR);
		else if (s->plain_fd != -1) {
			close(s->plain_fd);
			s->plain_fd = -1;
			s->shaken = false;
		}
		break;
	case 8:
		turn(n * 200);
		break;
	case 9:
		connect_role(n & 1 ? ROLE_IDPROC : ROLE_NETPROC, n & 1 ?
		    &idproc_fd : &netproc_fd);
		break;
	case 10:
		if (s->tls != NULL && s->shaken)
			(void)tls_close(s->tls);
		break;
	default:
		close(netproc_fd);
		netproc_fd = -1;
		turn(0);
		connect_role(ROLE_NETPROC, &netproc_fd);
		break;
	}
}

static struct tls_config *
a_client(void)
{
	struct tls_config *config = tls_config_new();

	must(config != NULL);
	tls_config_insecure_noverifycert(config);
	tls_config_insecure_noverifyname(config);
	return config;
}

static void
make_server(void)
{
	struct tls_config *config = tls_config_new();
	const char *why = NULL;
	uint8_t *pem;
	size_t len;

	pem = selfsigned_make("fuzz", &len, &why);
	must(pem != NULL && config != NULL);
	must(tls_config_set_keypair_mem(config, pem, len, pem, len) == 0);
	/* a client's certificate is ours, or there is none */
	must(tls_config_set_ca_mem(config, pem, len) == 0);
	tls_config_verify_client_optional(config);
	server = tls_server();
	must(server != NULL && tls_configure(server, config) == 0);
	tls_config_free(config);
	client_config = a_client();
	named_config = a_client();
	must(tls_config_set_keypair_mem(named_config, pem, len, pem,
	    len) == 0);
	free(pem);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t i;

	(void)argc;
	(void)argv;
	signal(SIGPIPE, SIG_IGN);
	quiet();
	settings.line_timeout = 30;
	must(loop_init() == 0 && tls_init() == 0);
	make_server();
	handover_init();
	connect_role(ROLE_IDPROC, &idproc_fd);
	connect_role(ROLE_NETPROC, &netproc_fd);
	for (i = 0; i < MOST; i++)
		sides[i].tcp_fd = sides[i].plain_fd = -1;
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int before = count_fds(), steps;
	bool fails = fault_plan(&data, &len);
	struct input in = { data, len };
	struct side *s;
	uint8_t what;
	size_t i;

	limit = fails ? MOST - 1 : MOST;
	for (steps = 0; in.left > 0 && steps < 64; steps++) {
		what = take_u8(&in);
		s = &sides[what / 12 % MOST];
		if (s->tcp_fd == -1) {
			client_new(s, what / 36 % 4 != 0,
			    what / 36 % 4 == 2);
			if (what / 36 % 4 > 1)
				shake(s);
		} else
			act(s, what, &in);
		turn(1);
		hear();
	}
	for (i = 0; i < MOST; i++)
		client_end(&sides[i], false);
	for (i = 0; i < 12; i++) {
		turn(31000);
		hear();
		/* what cannot be sent now is not lost for ever */
		if (i == 5)
			fault_forget();
	}
	/* a link that was lost is made anew */
	if (fails) {
		connect_role(ROLE_IDPROC, &idproc_fd);
		connect_role(ROLE_NETPROC, &netproc_fd);
	}
	must(count_fds() == before);
	return 0;
}
