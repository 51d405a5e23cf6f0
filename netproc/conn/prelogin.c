/* SPDX-License-Identifier: ISC */
/* Places of clients before AUTH, counted by where they come from. */
#include <sys/queue.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "prelogin.h"
#include "replica.h"
#include "wire/role.h"

#define PARTS	4

struct source {
	LIST_ENTRY(source)	 all;
	struct in6_addr		 network;
	uint64_t		 n;
};

static LIST_HEAD(, source) sources = LIST_HEAD_INITIALIZER(sources);
static uint64_t		 total;

static uint64_t
part(uint64_t n)
{
	return n < PARTS ? 1 : n / PARTS;
}

/* "192.0.2.1:4000", "[2001:db8::1]:4000"; anything else is one source. */
static void
network_of(const char *address, struct in6_addr *a)
{
	char text[INET6_ADDRSTRLEN];
	bool v6 = address[0] == '[';
	size_t len = strcspn(address + v6, v6 ? "]" : ":");

	memset(a, 0, sizeof(*a));
	if (len >= sizeof(text))
		return;
	memcpy(text, address + v6, len);
	text[len] = '\0';
	if (v6 && inet_pton(AF_INET6, text, a) == 1)
		memset(&a->s6_addr[8], 0, 8);
	else if (!v6 && inet_pton(AF_INET, text, &a->s6_addr[12]) == 1)
		a->s6_addr[10] = a->s6_addr[11] = 0xff;
}

/*
 * Stands in for the network of a client on this host: the uid of its socket.
 * Local clients share their addresses, and no user may lock out the others.  No
 * network looks like this.
 */
static void
user_as_network(uint32_t uid, struct in6_addr *a)
{
	memset(a, 0xff, sizeof(*a));
	memcpy(&a->s6_addr[12], &uid, sizeof(uid));
}

static struct source *
source_of(const struct in6_addr *network)
{
	struct source *s;

	LIST_FOREACH(s, &sources, all)
		if (memcmp(&s->network, network, sizeof(*network)) == 0)
			return s;
	s = calloc(1, sizeof(*s));
	if (s != NULL) {
		s->network = *network;
		LIST_INSERT_HEAD(&sources, s, all);
	}
	return s;
}

bool
prelogin_enter(struct conn *c, uint32_t uid, const char *address)
{
	uint64_t most = part(settings.max_connections);
	struct in6_addr network;
	struct source *s;

	if (total >= most)
		return false;
	if (uid != UID_UNKNOWN)
		user_as_network(uid, &network);
	else
		network_of(address, &network);
	s = source_of(&network);
	/* with a place free, a source that exists has somebody there */
	if (s == NULL || s->n >= part(most))
		return false;
	s->n++;
	total++;
	c->source = s;
	c->unauthenticated = true;
	return true;
}

void
prelogin_leave(struct conn *c)
{
	struct source *s = c->source;

	c->unauthenticated = false;
	c->source = NULL;
	if (s == NULL)
		return;
	total--;
	if (--s->n > 0)
		return;
	LIST_REMOVE(s, all);
	free(s);
}
