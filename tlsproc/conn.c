/* SPDX-License-Identifier: ISC */
/*
 * A client's connection: the handshake, then bytes both ways between its TCP
 * socket and our end of the pair whose other end netproc has.
 *
 * One connection has its turn at a time, so what passes through is in static
 * buffers; only what one side does not take at once is kept in memory of the
 * connection's own, and while there is such, nothing more is read for that
 * side.  An idle connection has no buffer beyond those of the TLS library.
 */
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tls.h>
#include <unistd.h>

#include "base/log.h"
#include "certname.h"
#include "conn.h"
#include "handover.h"
#include "keys.h"
#include "listener.h"
#include "wire/accept.h"
#include "wire/proto.h"
#include "wire/role.h"

#define RECORD		(16 * 1024)	/* a TLS record's plain text at most */
/* Bytes moved in one turn: up from the client, down to it. */
#define UP_MAX		(128 * 1024)
#define DOWN_MAX	(64 * 1024)
/* Encrypted bytes of one turn, with TLS's overhead and its own messages. */
#define CORK		(DOWN_MAX + 16 * 1024)
#define PENDING_MAX	(256 * 1024)
#define PAIR_BUFFER	(512 * 1024)

struct pending {
	uint8_t	*p;
	size_t	 pos, len;	/* of what is left: from pos, len bytes */
};

enum phase {
	SHAKING,
	WAITING,	/* for netproc or idproc to be there */
	OPEN
};

struct conn {
	TAILQ_ENTRY(conn)	 all;
	enum phase		 phase;
	struct loop_io		 tcp_io, plain_io;
	int			 tcp_fd, plain_fd;	/* owned */
	struct tls		*tls;	/* NULL until the first byte */
	struct loop_timer	 timer;
	uint32_t		 listener;
	uint64_t		 inode;		/* of netproc's end */
	struct pending		 up, down;	/* plain text, encrypted */
	bool			 up_eof;	/* the client has ended */
	bool			 up_done;	/* and netproc knows */
	bool			 down_eof;	/* netproc has ended */
	bool			 down_done;	/* and the client knows */
	bool			 cut;		/* TCP ended without TLS */
	bool			 hung_up;	/* netproc will not read */
	bool			 dead;
	char			 from[ADDRESS_TEXT];
	char			 name[USER_NAME_MAX];
};

TAILQ_HEAD(conn_list, conn);
static struct conn_list	 shaking = TAILQ_HEAD_INITIALIZER(shaking);
static struct conn_list	 established = TAILQ_HEAD_INITIALIZER(established);
static size_t		 nconns;
static uint8_t		 up_buf[UP_MAX], down_buf[DOWN_MAX], cork[CORK];
static size_t		 corked;

static void	on_tcp_io(uint32_t, void *);
static void	on_plain_io(uint32_t, void *);

static void
conn_free(struct conn *c)
{
	TAILQ_REMOVE(c->phase == SHAKING ? &shaking : &established, c, all);
	loop_timer_unset(&c->timer);
	loop_del(&c->tcp_io);
	loop_del(&c->plain_io);
	if (c->phase == OPEN)
		handover_gone(c->inode);
	close(c->tcp_fd);
	if (c->plain_fd != -1)
		close(c->plain_fd);
	tls_free(c->tls);
	free(c->up.p);
	free(c->down.p);
	free(c);
	nconns--;
	accept_resume();
}

/* -- bytes ---------------------------------------------------------------- */

/* Keeps n bytes behind what is kept already; false without memory. */
static bool
keep(struct pending *k, const uint8_t *p, size_t n)
{
	uint8_t *more;

	if (n == 0)
		return true;
	if (n > PENDING_MAX || k->len > PENDING_MAX - n)
		return false;
	if (k->pos > 0)
		memmove(k->p, k->p + k->pos, k->len);
	k->pos = 0;
	more = realloc(k->p, k->len + n);
	if (more == NULL)
		return false;
	k->p = more;
	memcpy(k->p + k->len, p, n);
	k->len += n;
	return true;
}

/* Bytes that the socket took; -1 when it takes none any more. */
static ssize_t
send_some(int fd, const uint8_t *p, size_t n)
{
	ssize_t sent = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return sent;
}

static int
send_kept(int fd, struct pending *k)
{
	ssize_t n;

	if (k->len == 0)
		return 0;
	n = send_some(fd, k->p + k->pos, k->len);
	if (n == -1)
		return -1;
	k->pos += (size_t)n;
	k->len -= (size_t)n;
	if (k->len == 0) {
		free(k->p);
		*k = (struct pending){ 0 };
	}
	return 0;
}

/* Sends, in order behind what is kept, and keeps the rest. */
static int
pass(int fd, struct pending *k, const uint8_t *p, size_t n)
{
	ssize_t sent = 0;

	if (k->len == 0)
		sent = send_some(fd, p, n);
	if (sent == -1)
		return -1;
	return keep(k, p + sent, n - (size_t)sent) ? 0 : -1;
}

/* Sends what the library has encrypted in this turn, in one piece. */
static int
uncork(struct conn *c)
{
	size_t n = corked;

	corked = 0;
	return n == 0 ? 0 : pass(c->tcp_fd, &c->down, cork, n);
}

static ssize_t
wire_read(struct tls *tls, void *buf, size_t len, void *arg)
{
	struct conn *c = arg;
	ssize_t n = recv(c->tcp_fd, buf, len, MSG_DONTWAIT);

	(void)tls;
	if (n > 0)
		return n;
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return TLS_WANT_POLLIN;
	c->cut = true;
	return n;
}

/* Takes everything, so that the library never has to be asked again. */
static ssize_t
wire_write(struct tls *tls, const void *buf, size_t len, void *arg)
{
	struct conn *c = arg;

	(void)tls;
	if (len > sizeof(cork) - corked && uncork(c) == -1)
		return -1;
	if (len > sizeof(cork))
		len = sizeof(cork);
	memcpy(cork + corked, buf, len);
	corked += len;
	return (ssize_t)len;
}

/* -- the two ways --------------------------------------------------------- */

/* The library's own words end in the reason. */
static const char *
reason(struct conn *c)
{
	const char *text = c->tls == NULL ? NULL : tls_error(c->tls), *p;

	if (c->cut || text == NULL)
		return "the client closed the connection";
	p = strrchr(text, ':');
	return p != NULL && p[1] != '\0' ? p + 1 : text;
}

/* Decrypts whole records only: nothing is left inside that nobody waits for. */
static size_t
decrypt(struct conn *c)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && sizeof(up_buf) - len >= RECORD) {
		n = tls_read(c->tls, up_buf + len, sizeof(up_buf) - len);
		if (n > 0)
			len += (size_t)n;
	}
	if (n == 0 && !c->cut)
		c->up_eof = true;
	/* an end that TLS does not vouch for may be anybody's */
	else if (n == 0 || n == -1) {
		if (!c->cut)
			accept_log("%s: %s", c->from, reason(c));
		c->dead = true;
	}
	return len;
}

static void
move_up(struct conn *c)
{
	size_t len;

	if (send_kept(c->plain_fd, &c->up) == -1)
		c->hung_up = true;
	if (!c->up_eof && !c->hung_up && c->up.len == 0 &&
	    c->down.len < PENDING_MAX / 2) {
		len = decrypt(c);
		if (len > 0 && pass(c->plain_fd, &c->up, up_buf, len) == -1)
			c->hung_up = true;
	}
	if (c->up_eof && c->up.len == 0 && !c->up_done) {
		(void)shutdown(c->plain_fd, SHUT_WR);
		c->up_done = true;
	}
}

static void
encrypt(struct conn *c, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = tls_write(c->tls, down_buf + done, len - done);
		if (n <= 0) {
			c->dead = true;
			return;
		}
		done += (size_t)n;
	}
}

static void
move_down(struct conn *c)
{
	ssize_t n;

	if (send_kept(c->tcp_fd, &c->down) == -1)
		c->dead = true;
	if (c->dead || c->down.len > 0 || c->down_done)
		return;
	if (!c->down_eof) {
		n = recv(c->plain_fd, down_buf, sizeof(down_buf),
		    MSG_DONTWAIT);
		if (n > 0)
			encrypt(c, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			c->down_eof = true;
	}
	if (c->down_eof && !c->down_done) {
		(void)tls_close(c->tls);
		c->down_done = true;
	}
}

/* -- turns ---------------------------------------------------------------- */

/*
 * A side of which nothing is wanted is not watched at all: a hang-up is
 * always reported and would keep the loop busy.
 */
static void
watch(struct conn *c, struct loop_io *io, uint32_t want)
{
	bool tcp = io == &c->tcp_io;
	int r = 0;

	if (want == 0)
		loop_del(io);
	else if (io->active)
		r = loop_mod(io, want);
	else
		r = loop_add(io, tcp ? c->tcp_fd : c->plain_fd, want,
		    tcp ? on_tcp_io : on_plain_io, c);
	if (r == -1)
		c->dead = true;
}

static void
on_late(void *arg)
{
	struct conn *c = arg;

	if (c->phase == SHAKING)
		accept_log("%s: no TLS handshake within %llu s", c->from,
		    (unsigned long long)settings.line_timeout);
	conn_free(c);
}

static void
settle(struct conn *c)
{
	uint32_t tcp = 0, plain = 0;

	if (!c->up_eof && !c->hung_up && c->up.len == 0 &&
	    c->down.len < PENDING_MAX / 2)
		tcp |= EPOLLIN;
	if (c->down.len > 0)
		tcp |= EPOLLOUT;
	if (!c->down_eof && c->down.len == 0)
		plain |= EPOLLIN;
	if (c->up.len > 0 && !c->hung_up)
		plain |= EPOLLOUT;
	/* netproc has ended, and will not wait for the client for ever */
	if (!c->hung_up && !c->up_done)
		plain |= EPOLLHUP;
	watch(c, &c->tcp_io, tcp);
	watch(c, &c->plain_io, plain);
	if (c->hung_up && c->timer.slot == 0)
		loop_timer_set(&c->timer, settings.line_timeout * 1000,
		    on_late, c);
}

static bool
is_over(const struct conn *c)
{
	return c->dead || (c->down_done && c->down.len == 0 &&
	    (c->up_done || c->hung_up));
}

static void
run(struct conn *c)
{
	move_up(c);
	if (!c->dead)
		move_down(c);
	/* also the alert that tells the client why */
	if (uncork(c) == -1)
		c->dead = true;
	if (!is_over(c))
		settle(c);
	if (is_over(c))
		conn_free(c);
}

/* -- the handshake -------------------------------------------------------- */

/* Both ends of the pair; netproc's is returned, -1 when there is none. */
static int
make_pair(struct conn *c)
{
	int fds[2], size = PAIR_BUFFER;
	struct stat st;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
	    fds) == -1)
		return -1;
	if (fstat(fds[1], &st) == -1) {
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	/* capped by the host's limit; what is not read does not come */
	(void)setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	c->plain_fd = fds[0];
	c->inode = st.st_ino;
	return fds[1];
}

static void
hand_over_conn(struct conn *c)
{
	int fd;

	if (!handover_possible())
		return;
	fd = make_pair(c);
	if (fd == -1 ||
	    handover_tell_peer(c->inode, c->name, c->tcp_fd) == -1) {
		accept_log("%s: cannot be handed over: no file descriptor is "
		    "left, or nobody takes it", c->from);
		if (fd != -1)
			close(fd);
		c->dead = true;
		return;
	}
	loop_timer_unset(&c->timer);
	c->phase = OPEN;
	handover_conn(c->listener, fd);
}

/* A certificate that was sent has been verified, or this were not reached. */
static void
read_name(struct conn *c)
{
	const uint8_t *pem;
	size_t len;

	if (!tls_peer_cert_provided(c->tls))
		return;
	pem = tls_peer_cert_chain_pem(c->tls, &len);
	if (pem == NULL || certname(pem, len, c->name, sizeof(c->name)) == -1)
		accept_log("%s: its certificate names no user", c->from);
}

static bool
accept_tls(struct conn *c)
{
	if (c->tls == NULL && tls_accept_cbs(keys_server(), &c->tls, wire_read,
	    wire_write, c) == -1) {
		accept_log("%s: %s", c->from, tls_error(keys_server()));
		c->tls = NULL;
		return false;
	}
	return true;
}

static void
shake(struct conn *c)
{
	int r;

	if (!accept_tls(c)) {
		c->dead = true;
		return;
	}
	r = tls_handshake(c->tls);
	if (r == -1) {
		accept_log("%s: no TLS handshake: %s", c->from, reason(c));
		c->dead = true;
	} else if (r == 0) {
		read_name(c);
		TAILQ_REMOVE(&shaking, c, all);
		TAILQ_INSERT_TAIL(&established, c, all);
		c->phase = WAITING;
		hand_over_conn(c);
	}
	if (uncork(c) == -1)
		c->dead = true;
}

/* Before there is a pair: the handshake, or the wait for netproc. */
static void
run_alone(struct conn *c)
{
	uint32_t want = 0;

	if (send_kept(c->tcp_fd, &c->down) == -1)
		c->dead = true;
	else if (c->phase == SHAKING)
		shake(c);
	if (c->phase == SHAKING)
		want |= EPOLLIN;
	if (c->down.len > 0)
		want |= EPOLLOUT;
	if (!c->dead && c->phase != OPEN)
		watch(c, &c->tcp_io, want);
	if (c->dead)
		conn_free(c);
	else if (c->phase == OPEN)
		run(c);
}

static void
on_tcp_io(uint32_t events, void *arg)
{
	struct conn *c = arg;

	(void)events;
	if (c->phase == OPEN)
		run(c);
	else
		run_alone(c);
}

static void
on_plain_io(uint32_t events, void *arg)
{
	struct conn *c = arg;

	/* what it has written before is read all the same */
	if (events & (EPOLLHUP | EPOLLERR))
		c->hung_up = true;
	run(c);
}

void
conn_introduce_all(void)
{
	struct conn *c;

	TAILQ_FOREACH(c, &established, all)
		if (c->phase == OPEN)
			(void)handover_tell_peer(c->inode, c->name, c->tcp_fd);
}

void
conn_hand_over_all(void)
{
	struct conn *c, *next;

	for (c = TAILQ_FIRST(&established); c != NULL; c = next) {
		next = TAILQ_NEXT(c, all);
		if (c->phase != WAITING)
			continue;
		hand_over_conn(c);
		if (c->dead)
			conn_free(c);
		else if (c->phase == OPEN)
			run(c);
	}
}

static void
name_peer(struct conn *c, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)ss;
	bool six = ss->ss_family == AF_INET6;
	char ip[INET6_ADDRSTRLEN];

	if (inet_ntop(ss->ss_family, six ? (const void *)&v6->sin6_addr :
	    (const void *)&v4->sin_addr, ip, sizeof(ip)) == NULL)
		(void)snprintf(ip, sizeof(ip), "?");
	(void)snprintf(c->from, sizeof(c->from), six ? "[%s]:%u" : "%s:%u",
	    ip, ntohs(six ? v6->sin6_port : v4->sin_port));
}

/* Half a handshake costs its client nothing: it gives way to a newcomer. */
static bool
make_room(void)
{
	struct conn *oldest = TAILQ_FIRST(&shaking);

	if (nconns < listener_most())
		return true;
	accept_log("the limit of %zu TLS connections is reached",
	    listener_most());
	if (oldest == NULL)
		return false;
	conn_free(oldest);
	return true;
}

void
tls_conn_new(int fd, uint32_t listener, const struct sockaddr_storage *peer)
{
	struct conn *c = make_room() ? calloc(1, sizeof(*c)) : NULL;

	if (c == NULL || loop_add(&c->tcp_io, fd, EPOLLIN, on_tcp_io,
	    c) == -1) {
		free(c);
		close(fd);
		return;
	}
	c->tcp_fd = fd;
	c->plain_fd = -1;
	c->listener = listener;
	name_peer(c, peer);
	TAILQ_INSERT_TAIL(&shaking, c, all);
	nconns++;
	loop_timer_set(&c->timer, settings.line_timeout * 1000, on_late, c);
}
