/* SPDX-License-Identifier: ISC */
/* Accepting connections: limits, and patience when fds run out. */
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conn.h"
#include "listener.h"
#include "log.h"
#include "role.h"

#define BURST		16
#define PAUSE_MS	250
/* fds that are none of a connection */
#define FDS_OTHER	64
/* the connection, our end of its pair, and the other end on its way */
#define FDS_PER_CONN	3
#define LOG_PER_S	5
#define KEEPALIVE_S	60

struct listener {
	LIST_ENTRY(listener)	 all;
	struct loop_io		 io;
	int			 fd;	/* owned */
	uint32_t		 index;
};

static LIST_HEAD(, listener) listeners;
static struct loop_timer pause_timer;
static bool		 paused;
static size_t		 limit;

void
listener_log(const char *fmt, ...)
{
	static uint64_t second;
	static unsigned int lines;
	char line[400];
	va_list ap;

	if (second != loop_now_ms() / 1000) {
		second = loop_now_ms() / 1000;
		lines = 0;
	}
	if (++lines > LOG_PER_S)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log_info("%s", line);
}

void
listener_limit(void)
{
	uint64_t need = FDS_OTHER + FDS_PER_CONN * settings.max_connections;
	struct rlimit rl;

	limit = settings.max_connections;
	if (getrlimit(RLIMIT_NOFILE, &rl) == -1 || rl.rlim_cur >= need)
		return;
	rl.rlim_cur = need < rl.rlim_max ? need : rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
	if (rl.rlim_cur >= need)
		return;
	limit = rl.rlim_cur > FDS_OTHER + FDS_PER_CONN ?
	    (rl.rlim_cur - FDS_OTHER) / FDS_PER_CONN : 1;
	log_warnx("only %zu TLS connections instead of max-connections %llu: "
	    "the limit of open files is %llu and %llu are needed", limit,
	    (unsigned long long)settings.max_connections,
	    (unsigned long long)rl.rlim_cur, (unsigned long long)need);
}

size_t
listener_most(void)
{
	return limit;
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

static void
on_io(uint32_t events, void *arg)
{
	struct listener *l = arg;
	struct sockaddr_storage ss;
	socklen_t len;
	int fd, i;

	(void)events;
	for (i = 0; i < BURST && !paused; i++) {
		len = sizeof(ss);
		fd = accept4(l->fd, (struct sockaddr *)&ss, &len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1)
			conn_new(fd, l->index, &ss);
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

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
}

int
tls_on_listener(struct msg *m)
{
	uint32_t index = msg_get_u32(m);
	struct listener *l = find(index), *n;

	if (msg_end(m) == -1)
		return -1;
	if (l != NULL)
		drop(l);
	n = calloc(1, sizeof(*n));
	if (n == NULL)
		return 0;
	n->index = index;
	n->fd = msg_take_fd(m);
	LIST_INSERT_HEAD(&listeners, n, all);
	set_options(n->fd);
	if (loop_add(&n->io, n->fd, paused ? 0 : EPOLLIN, on_io, n) == -1)
		log_warn("cannot watch a listener");
	return 0;
}

int
tls_on_listener_gone(struct msg *m)
{
	struct listener *l = find(msg_get_u32(m));

	if (l != NULL)
		drop(l);
	return msg_end(m);
}
