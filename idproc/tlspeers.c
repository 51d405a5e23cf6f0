/* SPDX-License-Identifier: ISC */
/* A table of connections over TLS, and what a certificate adds to one. */
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "base/log.h"
#include "endpoint.h"
#include "tlspeers.h"
#include "wire/proto.h"
#include "wire/role.h"

#define HASH	1024		/* chains; a power of two */
/* max-connections ends at 60000 */
#define MOST	65536

struct tlspeer {
	LIST_ENTRY(tlspeer)	 hash;
	uint64_t		 inode;
	struct verdict		 verdict;
};

static LIST_HEAD(, tlspeer) table[HASH];
static size_t		 npeers;

static struct tlspeer *
find(uint64_t inode)
{
	struct tlspeer *p;

	LIST_FOREACH(p, &table[inode % HASH], hash)
		if (p->inode == inode)
			return p;
	return NULL;
}

/*
 * The client is the user that its certificate names, wherever it connects from;
 * only a session stays refused.  A name without an account adds nothing.  Nor
 * does a name over HTTP, where a browser shows its certificate for any page
 * that it has loaded.
 */
static void
add_name(struct verdict *v, const char *name)
{
	const struct account *a;
	int r;

	if (name[0] == '\0' || v->what == PEER_REFUSED ||
	    v->what == PEER_LATER)
		return;
	/* none can have been verified: it is not believed at all */
	if (settings.tls_client_ca[0] == '\0')
		return;
	a = account_named(name);
	if (!a->found) {
		log_info("%s: there is no user %s, whom its certificate names",
		    v->address, name);
		return;
	}
	r = principal_of(a->uid, &v->principal, v->why, sizeof(v->why));
	v->what = r == 0 ? PEER_KNOWN : r > 0 ? PEER_LATER : PEER_REFUSED;
	if (r != 0)
		v->principal.uid = (uid_t)-1;
}

int
tlspeers_add(uint64_t inode, const char *name, int tcp_fd)
{
	struct tlspeer *p = find(inode);

	if (p == NULL) {
		if (npeers == MOST)
			return -1;
		p = calloc(1, sizeof(*p));
		/* who is not remembered is not served: netproc asks in vain */
		if (p == NULL)
			return 0;
		p->inode = inode;
		LIST_INSERT_HEAD(&table[inode % HASH], p, hash);
		npeers++;
	}
	peer_identify(tcp_fd, &p->verdict);
	if (p->verdict.door == DOOR_WEB)
		p->verdict.door = DOOR_WEB_TLS;
	else {
		p->verdict.door = DOOR_TLS;
		add_name(&p->verdict, name);
	}
	return 0;
}

static void
drop(struct tlspeer *p)
{
	LIST_REMOVE(p, hash);
	free(p);
	npeers--;
}

void
tlspeers_remove(uint64_t inode)
{
	struct tlspeer *p = find(inode);

	if (p != NULL)
		drop(p);
}

void
tlspeers_clear(void)
{
	size_t i;

	for (i = 0; i < HASH; i++)
		while (!LIST_EMPTY(&table[i]))
			drop(LIST_FIRST(&table[i]));
}

bool
tlspeers_is_pair(int sock_fd)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);

	return endpoint_is_local(sock_fd) &&
	    getsockname(sock_fd, (struct sockaddr *)&sun, &len) == 0 &&
	    len <= offsetof(struct sockaddr_un, sun_path);
}

const struct verdict *
tlspeers_find(int sock_fd)
{
	struct tlspeer *p;
	struct stat st;

	if (fstat(sock_fd, &st) == -1)
		return NULL;
	p = find(st.st_ino);
	return p == NULL ? NULL : &p->verdict;
}
