/* SPDX-License-Identifier: ISC */
/* Listeners, and how many connections by them. */
#include <sys/queue.h>

#include <stdlib.h>

#include "conn.h"
#include "listener.h"
#include "wire/accept.h"

/* fds that are none of a connection */
#define FDS_OTHER	64
/* the connection, our end of its pair, and the other end on its way */
#define FDS_PER_CONN	3

struct listener {
	LIST_ENTRY(listener)	 all;
	struct acceptor		 door;
	uint32_t		 index;
};

static LIST_HEAD(, listener) listeners;
static size_t		 limit;

void
tls_listener_limit(void)
{
	limit = accept_limit("TLS connections", FDS_PER_CONN, FDS_OTHER);
}

size_t
listener_most(void)
{
	return limit;
}

static void
on_accepted(int fd, const struct sockaddr_storage *from, void *arg)
{
	const struct listener *l = arg;

	tls_conn_new(fd, l->index, from);
}

static void
drop(struct listener *l)
{
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
	LIST_INSERT_HEAD(&listeners, n, all);
	accept_begin(&n->door, msg_take_fd(m), on_accepted, n);
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
