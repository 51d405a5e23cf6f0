/* SPDX-License-Identifier: ISC */
/* Accepting connections: limits, and patience when fds run out. */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "conn.h"
#include "listener.h"
#include "log.h"
#include "proto.h"
#include "role.h"
#include "who.h"

#define BURST		16
#define PAUSE_MS	250
/* Beyond the limit so many may still be told that it is reached. */
#define REFUSALS	16
/* fds that are none of a connection or of a debugged session */
#define FDS_OTHER	64
#define FDS_PER_CONN	2
#define FDS_PER_DEBUG	3
#define LOG_PER_S	5
#define KEEPALIVE_S	60

struct listener {
	LIST_ENTRY(listener)	 all;
	struct loop_io		 io;
	int			 fd;	/* owned; -1 = it is tlsproc's */
	uint32_t		 index, flags;
	char			 text[224];
};

static LIST_HEAD(, listener) listeners;
static struct channel	 tls_chan;
static struct loop_timer pause_timer;
static bool		 paused;
static size_t		 limit;

void
listener_log(const char *fmt, ...)
{
	static uint64_t second;
	static unsigned int lines;
	char line[256];
	va_list ap;

	if (second != loop_now_ms() / 1000) {
		second = loop_now_ms() / 1000;
		lines = 0;
	}
	/* strangers cause these lines: they may not fill the log */
	if (++lines > LOG_PER_S)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log_info("%s", line);
}

/*
 * A full fd table would lose the fds of messages, which looks like a
 * spawner that breaks the rules: so connections never fill it.
 */
void
listener_limit(void)
{
	uint64_t other = FDS_OTHER + FDS_PER_DEBUG * settings.max_sessions;
	uint64_t need = other + FDS_PER_CONN * settings.max_connections;
	struct rlimit rl;

	limit = settings.max_connections;
	if (getrlimit(RLIMIT_NOFILE, &rl) == -1 || rl.rlim_cur >= need)
		return;
	rl.rlim_cur = need < rl.rlim_max ? need : rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
	if (rl.rlim_cur >= need)
		return;
	limit = rl.rlim_cur > other + FDS_PER_CONN ?
	    (rl.rlim_cur - other) / FDS_PER_CONN : 1;
	log_warnx("only %zu connections instead of max-connections %llu: the "
	    "limit of open files is %llu and %llu are needed", limit,
	    (unsigned long long)settings.max_connections,
	    (unsigned long long)rl.rlim_cur, (unsigned long long)need);
}

static void
watch_all(uint32_t events)
{
	struct listener *l;

	LIST_FOREACH(l, &listeners, all)
		(void)loop_mod(&l->io, events);
}

void
listener_resume(void)
{
	if (!paused)
		return;
	paused = false;
	loop_timer_unset(&pause_timer);
	watch_all(EPOLLIN);
}

static void
on_pause_over(void *arg)
{
	(void)arg;
	listener_resume();
}

/* The connections that cannot be accepted stay in the kernel's queue. */
static void
pause_all(void)
{
	listener_log("accepting pauses: %s", errno == EMFILE ?
	    "no file descriptor is left" : "the system is short of memory");
	paused = true;
	watch_all(0);
	loop_timer_set(&pause_timer, PAUSE_MS, on_pause_over, NULL);
}

void
listener_address(const struct sockaddr_storage *ss, struct in6_addr *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)ss;

	memset(a, 0, sizeof(*a));
	if (ss->ss_family == AF_INET6)
		*a = ((const struct sockaddr_in6 *)ss)->sin6_addr;
	else if (ss->ss_family == AF_INET) {
		a->s6_addr[10] = a->s6_addr[11] = 0xff;
		memcpy(&a->s6_addr[12], &v4->sin_addr, 4);
	}
}

static void
welcome(const struct listener *l, int fd, const struct sockaddr_storage *from)
{
	struct conn *c = conn_new(fd, l->flags);

	if (c == NULL)
		return;
	listener_address(from, &c->from);
	if (conn_count > limit) {
		listener_log("the limit of %zu connections is reached", limit);
		answer_error(c, ERR_MAX_CONNECTIONS, NULL);
		conn_finish(c);
	} else
		who_start(c);
	conn_run(c);
}

static void
take(const struct listener *l, int fd, const struct sockaddr_storage *from)
{
	if (conn_count >= limit + REFUSALS)
		close(fd);
	else
		welcome(l, fd, from);
}

static void
on_io(uint32_t events, void *arg)
{
	struct listener *l = arg;
	struct sockaddr_storage from = { 0 };
	socklen_t len;
	int fd, i;

	(void)events;
	/* a flood of connections lets those that are served go on */
	for (i = 0; i < BURST && !paused; i++) {
		len = sizeof(from);
		fd = accept4(l->fd, (struct sockaddr *)&from, &len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1)
			take(l, fd, &from);
		else if (errno == EMFILE || errno == ENFILE ||
		    errno == ENOBUFS || errno == ENOMEM)
			pause_all();
		else if (errno == EAGAIN)
			break;
		/* others are errors of that connection: on to the next */
	}
}

static void
drop(struct listener *l)
{
	loop_del(&l->io);
	if (l->fd != -1)
		close(l->fd);
	LIST_REMOVE(l, all);
	free(l);
}

static struct listener *
find(uint32_t index)
{
	struct listener *l;

	LIST_FOREACH(l, &listeners, all)
		if (l->index == index)
			return l;
	return NULL;
}

/* Accepted sockets inherit these, so no connection costs a call for them. */
static void
set_options(int fd)
{
	int on = 1, idle = KEEPALIVE_S;

	/* fail on a local socket, which needs none of them */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
}

/* In place of one with the same index; NULL when the message is bad. */
static struct listener *
listener_new(struct msg *m)
{
	uint32_t index = msg_get_u32(m);
	struct listener *l = find(index), *n;

	if (l != NULL)
		drop(l);
	/* without memory there is one door less, and the others work */
	n = calloc(1, sizeof(*n));
	if (n == NULL)
		fatal("listeners");
	n->index = index;
	n->flags = msg_get_u32(m);
	msg_get_str(m, n->text, sizeof(n->text));
	if (msg_end(m) == -1) {
		free(n);
		return NULL;
	}
	n->fd = msg_take_fd(m);
	LIST_INSERT_HEAD(&listeners, n, all);
	return n;
}

int
net_on_listener(struct msg *m)
{
	struct listener *n = listener_new(m);

	if (n == NULL)
		return -1;
	set_options(n->fd);
	if (loop_add(&n->io, n->fd, paused ? 0 : EPOLLIN, on_io, n) == -1)
		log_warn("cannot watch the listener on %s", n->text);
	return 0;
}

int
net_on_tls_door(struct msg *m)
{
	return listener_new(m) == NULL ? -1 : 0;
}

/* The bytes of a client whom tlsproc has shaken hands with. */
int
net_on_tls_conn(struct msg *m)
{
	const struct listener *l = find(msg_get_u32(m));
	/* idproc knows where it comes from; from here it is as good as local */
	const struct sockaddr_storage from = { .ss_family = AF_UNSPEC };

	if (msg_end(m) == -1)
		return -1;
	/* a reload may have taken the listener away meanwhile */
	if (l != NULL && l->flags & LISTENER_TLS)
		take(l, msg_take_fd(m), &from);
	return 0;
}

static void
tls_gone(struct channel *c, const char *why)
{
	if (why != NULL)
		role_violation(ROLE_TLSPROC, c->generation, why);
}

void
listener_init(void)
{
	chan_init(&tls_chan, ROLE_NETPROC, ROLE_TLSPROC, tls_gone, NULL);
}

void
listener_tls_peer(int fd, uint32_t generation)
{
	chan_close(&tls_chan);
	if (chan_open(&tls_chan, fd, generation) == -1)
		log_warn("cannot use the channel to tlsproc");
}

int
net_on_listener_gone(struct msg *m)
{
	struct listener *l = find(msg_get_u32(m));

	if (l != NULL)
		drop(l);
	return msg_end(m);
}

void
listener_warnings(struct text *t)
{
	struct listener *l;
	char line[320];

	LIST_FOREACH(l, &listeners, all) {
		if (!(l->flags & (LISTENER_AUTH_NONE | LISTENER_PLAIN)))
			continue;
		(void)snprintf(line, sizeof(line), "%s %s", l->text,
		    l->flags & LISTENER_AUTH_NONE ?
		    "asks nobody who he is (auth none)" :
		    "sends everything in clear, tokens too (plain)");
		json_text(t, line);
	}
}
