/* SPDX-License-Identifier: ISC */
/*
 * Debug ports and pipes.  A port is opened on the address by which the client
 * came in.  A connection to the port must be from the user who asked for it,
 * or where that cannot be told, on a listener that is plain, from the address
 * that the request came from.  Other connections are dropped and the port
 * stays open for the right one.
 */
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "debug_port.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/identity.h"
#include "netproc/conn/listener.h"
#include "netproc/conn/relay.h"
#include "netproc/conn/replica.h"
#include "wire/accept.h"
#include "wire/proto.h"
#include "wire/role.h"

/* Time for idproc to say who has connected. */
#define IDENTITY_MS		5000

struct debug {
	TAILQ_ENTRY(debug)	 all;
	struct sid		 session;
	uint32_t		 conn;		/* whose it is while it is a pipe's */
	uint32_t		 owner;		/* uid of who asked */
	bool			 anyone;	/* listener without identity */
	bool			 by_address;	/* who asked came from there: */
	struct in6_addr		 from;
	int			 wire_fd;	/* owned; -1 = relay has it */
	int			 listen_fd;	/* owned; -1 = closed */
	struct loop_io		 listen_io;
	struct loop_timer	 timer;		/* of the port */
	/* connected, but not known to be the owner yet */
	int			 guest_fd;	/* owned */
	uint32_t		 guest;		/* its number, 0 = none */
	struct loop_timer	 guest_timer;
	struct relay		*relay;
};

static TAILQ_HEAD(, debug) debugs = TAILQ_HEAD_INITIALIZER(debugs);

static void	on_connect(uint32_t, void *);

static struct debug *
find(const struct sid *sid)
{
	struct debug *d;

	TAILQ_FOREACH(d, &debugs, all)
		if (memcmp(&d->session, sid, sizeof(*sid)) == 0)
			return d;
	return NULL;
}

/* Gives up the present guest; the port goes on waiting. */
static void
drop_guest(struct debug *d)
{
	loop_timer_unset(&d->guest_timer);
	if (d->guest_fd != -1)
		close(d->guest_fd);
	d->guest_fd = -1;
	d->guest = 0;
	(void)loop_mod(&d->listen_io, EPOLLIN);
}

static void
close_port(struct debug *d)
{
	loop_timer_unset(&d->timer);
	loop_del(&d->listen_io);
	if (d->listen_fd != -1)
		close(d->listen_fd);
	d->listen_fd = -1;
}

static void
debug_free(struct debug *d)
{
	drop_guest(d);
	close_port(d);
	if (d->wire_fd != -1)
		close(d->wire_fd);
	if (d->relay != NULL)
		relay_free(d->relay);
	TAILQ_REMOVE(&debugs, d, all);
	free(d);
}

/* gdbserver sees its socket close and detaches. */
static void
finish(struct debug *d)
{
	struct sid sid = d->session;

	debug_free(d);
	(void)chan_send(&spawner_chan, msg_new(MSG_DEBUG_END, &sid, 0, 0), -1);
}

static void
on_relay_done(void *arg)
{
	struct debug *d = arg;

	d->relay = NULL;
	finish(d);
}

static void
start_relay(struct debug *d, int client_fd, const void *first, size_t len)
{
	int wire_fd = d->wire_fd;

	d->wire_fd = -1;
	close_port(d);
	d->relay = relay_new(client_fd, wire_fd, first, len, on_relay_done, d);
	if (d->relay == NULL)
		finish(d);
}

/* -- the port ------------------------------------------------------------- */

static void
on_port_timeout(void *arg)
{
	finish(arg);
}

static void
on_guest_timeout(void *arg)
{
	drop_guest(arg);
}

static void
welcome(struct debug *d)
{
	int fd = d->guest_fd;

	d->guest_fd = -1;
	drop_guest(d);
	start_relay(d, fd, NULL, 0);
}

/* Whether an address, as 16 bytes, is of this host's loopback. */
static bool
is_loopback(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a) ||
	    (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

/* Whether the peer is on another host, where nobody can tell who it is. */
static bool
is_remote(int fd, const struct sockaddr_storage *peer)
{
	struct sockaddr_storage local;
	socklen_t len = sizeof(local);
	struct in6_addr a, b;

	if (getsockname(fd, (struct sockaddr *)&local, &len) == -1)
		return false;
	listener_address(peer, &a);
	listener_address(&local, &b);
	return !is_loopback(&a) && memcmp(&a, &b, sizeof(a)) != 0;
}

static bool
is_from(const struct debug *d, const struct sockaddr_storage *peer)
{
	struct in6_addr a;

	listener_address(peer, &a);
	return d->by_address && memcmp(&a, &d->from, sizeof(a)) == 0;
}

static void
on_connect(uint32_t events, void *arg)
{
	struct debug *d = arg;
	struct sockaddr_storage peer = { 0 };
	socklen_t len = sizeof(peer);
	int on = 1;

	(void)events;
	d->guest_fd = accept4(d->listen_fd, (struct sockaddr *)&peer, &len,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (d->guest_fd == -1)
		return;
	/* packets of the remote protocol are small and waited for */
	(void)setsockopt(d->guest_fd, IPPROTO_TCP, TCP_NODELAY, &on,
	    sizeof(on));
	if (is_remote(d->guest_fd, &peer) &&
	    (d->anyone || is_from(d, &peer))) {
		welcome(d);
		return;
	}
	d->guest = conn_number();
	(void)loop_mod(&d->listen_io, 0);
	loop_timer_set(&d->guest_timer, IDENTITY_MS, on_guest_timeout, d);
	(void)identity_ask(d->guest, d->guest_fd);
}

static bool
peer_is(uint32_t number, bool known, uint32_t uid, const char *why)
{
	struct debug *d;

	TAILQ_FOREACH(d, &debugs, all)
		if (d->guest != 0 && d->guest == number)
			break;
	if (d == NULL)
		return false;
	/* the spawner was told of it as of a client, which it is not */
	if (known)
		identity_closed(number);
	/* also where everybody is welcome, a session is not */
	if (known && (d->anyone || uid == d->owner))
		welcome(d);
	else {
		accept_log("a connection to a debug port was refused: %s",
		    known ? "not the session's owner" : why);
		drop_guest(d);
	}
	return true;
}

static void
ask_again(void)
{
	struct debug *d;

	TAILQ_FOREACH(d, &debugs, all)
		if (d->guest != 0)
			(void)identity_ask(d->guest, d->guest_fd);
}

/* The address by which the client came in, with a port to be chosen. */
static socklen_t
same_address(int fd, struct sockaddr_storage *ss)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ss;
	socklen_t len = sizeof(*ss);

	if (getsockname(fd, (struct sockaddr *)ss, &len) == -1)
		return 0;
	if (ss->ss_family == AF_INET6) {
		v6->sin6_port = 0;
		return len;
	}
	if (ss->ss_family != AF_INET) {
		/* a local socket: gdb comes by loopback */
		memset(v4, 0, sizeof(*v4));
		v4->sin_family = AF_INET;
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		len = sizeof(*v4);
	}
	v4->sin_port = 0;
	return len;
}

/* Listens and returns the port; 0 when that cannot be done. */
static uint32_t
open_port(struct debug *d, int client_fd)
{
	struct sockaddr_storage ss;
	struct sockaddr *sa = (struct sockaddr *)&ss;
	socklen_t len = same_address(client_fd, &ss);
	int fd;

	if (len == 0)
		return 0;
	fd = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0);
	if (fd == -1)
		return 0;
	if (bind(fd, sa, len) == -1 || listen(fd, 4) == -1)
		goto fail;
	len = sizeof(ss);
	if (getsockname(fd, sa, &len) == -1 ||
	    loop_add(&d->listen_io, fd, EPOLLIN, on_connect, d) == -1)
		goto fail;
	d->listen_fd = fd;
	loop_timer_set(&d->timer, settings.debug_timeout * 1000,
	    on_port_timeout, d);
	return ntohs(ss.ss_family == AF_INET6 ?
	    ((struct sockaddr_in6 *)&ss)->sin6_port :
	    ((struct sockaddr_in *)&ss)->sin_port);
fail:
	log_warn("cannot open a debug port");
	close(fd);
	return 0;
}

/* -- the spawner's part --------------------------------------------------- */

static struct debug *
debug_new(const struct sid *sid, const struct conn *c, int wire_fd)
{
	struct debug *d = find(sid);

	if (d != NULL)
		debug_free(d);
	d = calloc(1, sizeof(*d));
	if (d == NULL) {
		close(wire_fd);
		return NULL;
	}
	d->session = *sid;
	d->conn = c->number;
	d->owner = c->owner->uid;
	d->anyone = (c->listener_flags & LISTENER_AUTH_NONE) != 0;
	/* a token came in clear from there: the address is as good as that */
	d->by_address = c->by_token &&
	    (c->listener_flags & LISTENER_PLAIN) != 0;
	d->from = c->from;
	d->wire_fd = wire_fd;
	d->listen_fd = d->guest_fd = -1;
	d->listen_io = (struct loop_io)LOOP_IO_INIT;
	TAILQ_INSERT_TAIL(&debugs, d, all);
	return d;
}

static void	pipe_leave(struct conn *);

/* GDBPIPE was asked, and not DEBUG. */
static bool
is_pipe(const struct conn *c)
{
	return ask_state(c)->undo == pipe_leave;
}

int
net_on_debug_fd(struct msg *m)
{
	struct conn *c = ask_find(m);
	struct debug *d;
	struct msg_out *o;
	uint32_t port = 0;

	if (msg_end(m) == -1)
		return -1;
	if (c == NULL) {
		/* the asker has gone, so nobody will come */
		(void)chan_send(&spawner_chan, msg_new(MSG_DEBUG_END,
		    &m->hdr.session, 0, 0), -1);
		return 0;
	}
	d = debug_new(&m->hdr.session, c, msg_take_fd(m));
	if (d != NULL && !is_pipe(c))
		port = open_port(d, conn_socket(c));
	if (d != NULL && !is_pipe(c) && port == 0)
		debug_free(d);
	o = msg_new(MSG_DEBUG_PORT, &m->hdr.session, c->number,
	    m->hdr.request);
	msg_put_u32(o, port);
	(void)chan_send(&spawner_chan, o, -1);
	return 0;
}

int
net_on_debug_over(struct msg *m)
{
	struct debug *d = find(&m->hdr.session);

	if (d != NULL && d->relay != NULL)
		relay_over(d->relay);
	else if (d != NULL)
		debug_free(d);
	return msg_end(m);
}

/* The spawner has gone: so have all debuggers. */
static void
clear(void)
{
	while (!TAILQ_EMPTY(&debugs))
		debug_free(TAILQ_FIRST(&debugs));
}

void
debug_init(void)
{
	static const struct identity_others guests = { peer_is, ask_again };

	identity_others(&guests);
	ask_when_lost(clear);
}

/* -- commands ------------------------------------------------------------- */

void
cmd_debug(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct msg_out *o = ask_new(c, MSG_DEBUG, &s->sid);

	(void)ws;
	msg_put_u32(o, DEBUG_BY_PORT);
	ask_session(c, o, &s->sid);
}

/* The answer has gone out; from here on the socket is the relay's. */
static bool
pipe_step(struct conn *c)
{
	struct debug *d = find(&ask_state(c)->session);
	const char *first;
	size_t len = conn_unused(c, &first);
	int fd = c->fd;

	/* meanwhile it may have ended, or another may have been quicker */
	if (d == NULL || d->conn != c->number || d->wire_fd == -1) {
		c->dead = true;
		return false;
	}
	loop_del(&c->io);
	c->fd = -1;
	start_relay(d, fd, first, len);
	c->dead = true;
	return false;
}

/* Ends the GDBPIPE of a connection that left before gdb's bytes flow. */
static void
release(const struct sid *sid, uint32_t conn)
{
	struct debug *d = find(sid);

	if (d != NULL && d->conn == conn && d->wire_fd != -1 && d->listen_fd == -1)
		finish(d);
}

static void
pipe_leave(struct conn *c)
{
	release(&ask_state(c)->session, c->number);
}

static const struct conn_mode mode_pipe = {
	.name = "gdb",
	.clock = CLOCK_IDLE,
	.alone = true,
	.step = pipe_step,
	.leave = pipe_leave,
};

static void
pipe_begin(struct conn *c, const struct sid *sid)
{
	answer_session(c, sid);
	conn_enter(c, &mode_pipe);
	ask_state(c)->session = *sid;
}

static void
pipe_done(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (err == ERR_OK) {
		pipe_begin(c, &a->session);
		return;
	}
	release(&a->session, c->number);
	answer_error(c, err, msg);
}

void
cmd_gdbpipe(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct debug *d = find(&s->sid);
	bool take = d != NULL && d->wire_fd != -1 && d->listen_fd != -1;
	struct msg_out *o;

	(void)ws;
	/* a port that nobody has connected to yet: this gdb takes its place */
	if (take) {
		drop_guest(d);
		close_port(d);
		d->conn = c->number;
	}
	o = ask_new(c, MSG_DEBUG, &s->sid);
	msg_put_u32(o, take ? DEBUG_TAKE : DEBUG_BY_PIPE);
	ask_send(c, o, (struct ask){ .fn = pipe_done, .session = s->sid,
	    .undo = pipe_leave });
}
