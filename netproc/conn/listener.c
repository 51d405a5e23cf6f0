/* SPDX-License-Identifier: ISC */
/* Listeners: who is let in by which, and how many. */
#include <sys/queue.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "base/log.h"
#include "conn.h"
#include "identity.h"
#include "listener.h"
#include "wire/accept.h"
#include "wire/proto.h"
#include "wire/role.h"

/* Beyond the limit so many may still be told that it is reached. */
#define REFUSALS	16
/* fds that are none of a connection or of a debugged session */
#define FDS_OTHER	64
#define FDS_PER_CONN	2
#define FDS_PER_DEBUG	3

struct listener {
	LIST_ENTRY(listener)	 all;
	struct acceptor		 door;
	bool			 accepts;	/* else tlsproc does */
	uint32_t		 index, flags;
	char			 text[224];
};

static LIST_HEAD(, listener) listeners;
static struct channel	 tls_chan;
static size_t		 limit;
static listener_web_fn	 accept_web;

void
listener_web(listener_web_fn fn)
{
	accept_web = fn;
}

void
listener_limit(void)
{
	limit = accept_limit("connections", FDS_PER_CONN,
	    FDS_OTHER + FDS_PER_DEBUG * settings.max_sessions);
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
	/* no address to fetch leads to a Unix socket */
	if (from->ss_family != AF_UNIX)
		c->hello.wanted = true;
	if (conn_count > limit) {
		accept_log("the limit of %zu connections is reached", limit);
		answer_error(c, ERR_MAX_CONNECTIONS, NULL);
		conn_finish(c);
	} else
		identity_start(c);
	conn_run(c);
}

static void
take(const struct listener *l, int fd, const struct sockaddr_storage *from)
{
	if (conn_count >= limit + REFUSALS)
		close(fd);
	else if (l->flags & LISTENER_WEB)
		accept_web(fd, l->flags, from, conn_count >= limit);
	else
		welcome(l, fd, from);
}

static void
on_accepted(int fd, const struct sockaddr_storage *from, void *arg)
{
	take(arg, fd, from);
}

static void
drop(struct listener *l)
{
	if (l->accepts)
		accept_end(&l->door);
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
	LIST_INSERT_HEAD(&listeners, n, all);
	return n;
}

int
net_on_listener(struct msg *m)
{
	struct listener *n = listener_new(m);

	if (n == NULL)
		return -1;
	n->accepts = true;
	accept_begin(&n->door, msg_take_fd(m), on_accepted, n);
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
	role_peer_gone(c, why);
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
		role_peer_gone(&tls_chan, NULL);
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
listener_end(void)
{
	while (!LIST_EMPTY(&listeners))
		drop(LIST_FIRST(&listeners));
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
		    "lets clients in without asking who they are (auth none)" :
		    "sends everything unencrypted, including tokens (plain)");
		json_text(t, line);
	}
}
