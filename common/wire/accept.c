/* SPDX-License-Identifier: ISC */
/* Accepting connections: limits, and patience when fds run out. */
#include <sys/epoll.h>
#include <sys/resource.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "accept.h"
#include "base/log.h"
#include "role.h"

#define BURST		16
#define PAUSE_MS	250
#define LOG_PER_S	5
#define KEEPALIVE_S	60

static LIST_HEAD(, acceptor) acceptors = LIST_HEAD_INITIALIZER(acceptors);
static struct loop_timer pause_timer;
static bool		 paused;

void
accept_log(const char *fmt, ...)
{
	static uint64_t second;
	static unsigned int lines;
	char line[400];
	va_list ap;

	if (second != loop_now_ms() / 1000) {
		second = loop_now_ms() / 1000;
		lines = 0;
	}
	/* unknown clients cause these lines: they may not fill the log */
	if (++lines > LOG_PER_S)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log_info("%s", line);
}

/* How many files may be open; asked once, before the filter forbids it. */
static rlim_t
files_most(void)
{
	static struct rlimit rl;

	if (rl.rlim_cur != 0)
		return rl.rlim_cur;
	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		rl.rlim_cur = rl.rlim_max = RLIM_INFINITY;
	else if (rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	return rl.rlim_cur;
}

/*
 * A full fd table would lose the fds of messages, which looks like a peer
 * that breaks the rules: so connections never fill it.
 */
size_t
accept_limit(const char *what, uint64_t each, uint64_t other)
{
	uint64_t need = other + each * settings.max_connections;
	rlim_t most = files_most();
	size_t n;

	if (most >= need)
		return settings.max_connections;
	n = most > other + each ? (most - other) / each : 1;
	log_warnx("only %zu %s instead of max-connections %llu: the limit of "
	    "open files is %llu and %llu are needed", n, what,
	    (unsigned long long)settings.max_connections,
	    (unsigned long long)most, (unsigned long long)need);
	return n;
}

static void
watch_all(uint32_t events)
{
	struct acceptor *a;

	LIST_FOREACH(a, &acceptors, all)
		(void)loop_mod(&a->io, events);
}

void
accept_resume(void)
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
	accept_resume();
}

/* The connections that cannot be accepted stay in the kernel's queue. */
static void
pause_all(void)
{
	accept_log("accepting pauses: %s", errno == EMFILE ?
	    "no file descriptor is left" : "the system is short of memory");
	paused = true;
	watch_all(0);
	loop_timer_set(&pause_timer, PAUSE_MS, on_pause_over, NULL);
}

static void
on_io(uint32_t events, void *arg)
{
	struct acceptor *a = arg;
	struct sockaddr_storage from;
	socklen_t len;
	int fd, i;

	(void)events;
	/* a flood of connections lets those that are served go on */
	for (i = 0; i < BURST && !paused; i++) {
		from = (struct sockaddr_storage){ 0 };
		len = sizeof(from);
		fd = accept4(a->fd, (struct sockaddr *)&from, &len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1)
			a->fn(fd, &from, a->arg);
		else if (errno == EMFILE || errno == ENFILE ||
		    errno == ENOBUFS || errno == ENOMEM)
			pause_all();
		else if (errno == EAGAIN)
			break;
		/* others are errors of that connection: on to the next */
	}
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

void
accept_begin(struct acceptor *a, int fd, accept_fn fn, void *arg)
{
	a->fd = fd;
	a->fn = fn;
	a->arg = arg;
	LIST_INSERT_HEAD(&acceptors, a, all);
	set_options(fd);
	if (loop_add(&a->io, fd, paused ? 0 : EPOLLIN, on_io, a) == -1)
		log_warn("cannot watch a listener");
}

void
accept_end(struct acceptor *a)
{
	loop_del(&a->io);
	close(a->fd);
	a->fd = -1;
	LIST_REMOVE(a, all);
}
