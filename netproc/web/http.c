/* SPDX-License-Identifier: ISC */
/* libmicrohttpd in our event loop, and the clients' TCP connections. */
#include <sys/epoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "http.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/identity.h"
#include "netproc/conn/linger.h"
#include "netproc/conn/listener.h"
#include "webreq.h"
#include "wire/proto.h"
#include "wire/role.h"
#include "wire/settings.h"

/*
 * Memory of each connection: its headers, and the piece of a body that is read
 * at a time.  Above 32 KiB the library maps this memory, so that no secret of a
 * request is left in our heap when the connection has ended.
 */
#define POOL_BYTES	(36 * 1024)
/* max-connections ends there; what it is may change while we run. */
#define CONNECTIONS_MOST 60000
/* Beyond max-connections, those that are told of it. */
#define SPARE		32
/* Time-out of a connection that is not served. */
#define REFUSED_S	5
#define UNCOUNTED_MOST	(SPARE / 2)
/* For the library to read what a client sent before its end. */
#define END_MS		1000
/* For the rest of a request that nobody will serve, and nobody counts. */
#define ORPHAN_MS	5000

static const struct http_requests *requests;
static struct MHD_Daemon *httpd;
static struct loop_io	 io;
static struct loop_timer timer;
static bool		 again;		/* asked for while it ran */
static LIST_HEAD(, web)	 webs = LIST_HEAD_INITIALIZER(webs);
static size_t		 nuncounted;
static unsigned int	 idle_at_start;

/* -- the library in our loop ---------------------------------------------- */

static void	on_timer(void *);

static void
turn(void)
{
	MHD_UNSIGNED_LONG_LONG ms;

	again = false;
	(void)MHD_run(httpd);
	if (again)
		loop_timer_set(&timer, 0, on_timer, NULL);
	else if (MHD_get_timeout(httpd, &ms) == MHD_YES)
		loop_timer_set(&timer, ms, on_timer, NULL);
	else
		loop_timer_unset(&timer);
}

static void
on_timer(void *arg)
{
	(void)arg;
	turn();
}

void
http_soon(void)
{
	again = true;
	loop_timer_set(&timer, 0, on_timer, NULL);
}

static void
on_io(uint32_t events, void *arg)
{
	(void)events;
	(void)arg;
	turn();
}

void
web_req_wait(struct web_req *r)
{
	r->suspended = true;
	MHD_suspend_connection(r->mhd);
}

void
web_req_wake(struct web *w)
{
	struct web_req *r = w->req;

	if (r == NULL || !r->suspended || r->handling)
		return;
	r->suspended = false;
	MHD_resume_connection(r->mhd);
	http_soon();
}

/* Its own words about clients' mistakes are for nobody. */
static void
on_log(void *cls, const char *fmt, va_list ap)
{
	(void)cls;
	(void)fmt;
	(void)ap;
}

/* -- connections ---------------------------------------------------------- */

static struct web *
web_find(int fd)
{
	struct web *w;

	LIST_FOREACH(w, &webs, all)
		if (w->fd == fd && w->mhd == NULL)
			return w;
	return NULL;
}

static unsigned int
idle_s(void)
{
	return (unsigned int)settings.idle_timeout;
}

static void
on_connection(void *cls, struct MHD_Connection *mhd, void **ctx,
    enum MHD_ConnectionNotificationCode code)
{
	struct web *w = *ctx;
	const union MHD_ConnectionInfo *info;

	(void)cls;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(mhd,
		    MHD_CONNECTION_INFO_CONNECTION_FD);
		w = info == NULL ? NULL : web_find(info->connect_fd);
		if (w != NULL)
			w->mhd = mhd;
		*ctx = w;
		/* a reload has changed it */
		if (idle_s() != idle_at_start)
			(void)MHD_set_connection_option(mhd,
			    MHD_CONNECTION_OPTION_TIMEOUT, idle_s());
		return;
	}
	if (w == NULL)
		return;
	*ctx = NULL;
	loop_del(&w->end);
	loop_timer_unset(&w->grace);
	nuncounted -= w->uncounted;
	web_conn_end(w);
	if (w->unread && !w->closing && !w->given)
		linger_begin(w->fd);
	LIST_REMOVE(w, all);
	free(w);
}

/* A request that came whole before the client's end is still answered. */
static void
on_grace(void *arg)
{
	struct web *w = arg;

	if (w->req != NULL && w->req->ended)
		loop_timer_set(&w->grace, END_MS, on_grace, w);
	else
		web_close(w);
}

static void
on_end(uint32_t events, void *arg)
{
	struct web *w = arg;

	/* its end is told once; that it is gone altogether may come later */
	(void)loop_mod(&w->end, 0);
	if (events & (EPOLLERR | EPOLLHUP) ||
	    (w->req != NULL && requests->is_stream(w->req)))
		web_close(w);
	else
		loop_timer_set(&w->grace, END_MS, on_grace, w);
}

static void
on_orphan(void *arg)
{
	struct web *w = arg;

	if (w->conn != NULL || w->req == NULL || w->req->ended)
		return;
	if (!w->req->queued)
		requests->last_word(w->req);
	web_close(w);
}

/* Stops counting the connection; closes it if too many are uncounted. */
static bool
may_stay(struct web *w)
{
	if (!w->uncounted)
		nuncounted++;
	w->uncounted = true;
	if (nuncounted > UNCOUNTED_MOST)
		web_close(w);
	return !w->closing;
}

void
web_orphan(struct web *w)
{
	if (may_stay(w))
		loop_timer_set(&w->grace, ORPHAN_MS, on_orphan, w);
}

void
web_refuse(struct web *w, uint32_t err)
{
	w->err = err;
	if (may_stay(w))
		(void)MHD_set_connection_option(w->mhd,
		    MHD_CONNECTION_OPTION_TIMEOUT, REFUSED_S);
}

void
web_give_away(struct web *w)
{
	loop_del(&w->end);
	loop_timer_unset(&w->grace);
	w->given = true;
}

void
web_close(struct web *w)
{
	if (w->given)
		return;
	/* the library sees the end of it, and tells on_connection() */
	w->closing = true;
	(void)shutdown(w->fd, SHUT_RDWR);
	web_req_wake(w);
	http_soon();
}

void
web_conn_end(struct web *w)
{
	struct conn *c = w->conn;

	w->conn = NULL;
	w->authed = false;
	memset(w->cred, 0, sizeof(w->cred));
	if (c == NULL)
		return;
	c->port_arg = NULL;
	c->dead = true;
	conn_run(c);
	if (w->req != NULL && w->req->begun && !w->req->ended)
		web_orphan(w);
}

bool
web_conn_new(struct web *w)
{
	web_conn_end(w);
	nuncounted -= w->uncounted;
	w->uncounted = false;
	w->err = ERR_OK;
	w->conn = conn_new_port(requests->port, w, w->flags);
	if (w->conn == NULL)
		return false;
	listener_address(&w->from, &w->conn->from);
	identity_start(w->conn);
	conn_run(w->conn);
	return true;
}

void
http_accept(int fd, uint32_t flags, const struct sockaddr_storage *from,
    bool full)
{
	struct web *w = calloc(1, sizeof(*w));

	if (w == NULL || httpd == NULL)
		goto fail;
	w->fd = fd;
	w->flags = flags;
	w->from = *from;
	LIST_INSERT_HEAD(&webs, w, all);
	/* it takes fd, also when it fails */
	if (MHD_add_connection(httpd, fd, (const struct sockaddr *)from,
	    from->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
	    from->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
	    sizeof(sa_family_t)) != MHD_YES || w->mhd == NULL) {
		LIST_REMOVE(w, all);
		free(w);
		return;
	}
	(void)loop_add(&w->end, fd, EPOLLRDHUP, on_end, w);
	if (full)
		web_refuse(w, ERR_MAX_CONNECTIONS);
	else if (!web_conn_new(w))
		web_refuse(w, ERR_INTERNAL);
	turn();
	return;
fail:
	free(w);
	close(fd);
}

/*
 * Threads and their locks it has none: all happens in MHD_run().  TURBO keeps
 * it from shutting a socket down that was given to somebody else.
 */
void
http_init(const struct http_requests *given)
{
	const union MHD_DaemonInfo *info;

	idle_at_start = idle_s();
	requests = given;
	listener_web(http_accept);
	httpd = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
	    MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_TURBO |
	    MHD_USE_ERROR_LOG, 0, NULL, NULL, given->access, NULL,
	    MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
	    MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL,
	    MHD_OPTION_NOTIFY_COMPLETED, given->completed, NULL,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
	    MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned int)CONNECTIONS_MOST + SPARE,
	    MHD_OPTION_CONNECTION_TIMEOUT, idle_at_start,
	    MHD_OPTION_END);
	if (httpd == NULL)
		fatalx("libmicrohttpd cannot be used");
	info = MHD_get_daemon_info(httpd, MHD_DAEMON_INFO_EPOLL_FD);
	if (info == NULL || loop_add(&io, info->epoll_fd, EPOLLIN, on_io,
	    NULL) == -1)
		fatal("libmicrohttpd's epoll set");
}
