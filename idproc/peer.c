/* SPDX-License-Identifier: ISC */
/*
 * From an accepted connection to a principal: the listener's rule, or the
 * owner of the socket at the other end.
 */
#include <sys/socket.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"
#include "endpoint.h"
#include "origin.h"
#include "peer.h"
#include "rules.h"
#include "wire/acct.h"
#include "wire/proto.h"

/* since Linux 6.5, and not in the headers of this base */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

static uint32_t
refuse(struct verdict *v, const char *text)
{
	(void)snprintf(v->why, sizeof(v->why), "%s", text);
	return PEER_REFUSED;
}

/*
 * Finds the client's socket on this host.  While our end is connected, its
 * addresses and ports belong to no other connection; so what was found is
 * our client's if our end still is connected afterwards.
 */
static enum diag_result
find_client(int sock_fd, const struct ends *e, struct diag_socket *s)
{
	enum diag_result r = diag_find(e, s);
	struct ends after;

	if (r == DIAG_FOUND && ends_of(sock_fd, &after) != NULL)
		return DIAG_CLOSED;
	return r;
}

/* The verdict by a check, on somebody who else would be good. */
static uint32_t
by_check(int r, uint32_t good)
{
	return r == 0 ? good : r > 0 ? PEER_LATER : PEER_REFUSED;
}

static uint32_t
known_as(struct verdict *v, uid_t uid)
{
	return by_check(principal_of(uid, &v->principal, v->why,
	    sizeof(v->why)), PEER_KNOWN);
}

static uint32_t
not_found(enum diag_result r, struct verdict *v)
{
	if (r != DIAG_FAILED)
		return refuse(v, "the client has closed already");
	(void)snprintf(v->why, sizeof(v->why), "the kernel was asked by "
	    "sock_diag for its owner and failed: %s", strerrordesc_np(errno));
	return PEER_REFUSED;
}

static uint32_t
by_owner(int sock_fd, const struct ends *e, struct verdict *v)
{
	struct diag_socket s;
	enum diag_result r = find_client(sock_fd, e, &s);
	uint32_t what;

	if (r != DIAG_FOUND)
		return not_found(r, v);
	what = known_as(v, s.uid);
	if (what != PEER_KNOWN)
		return what;
	return by_check(origin_check(&s, v->why, sizeof(v->why)),
	    PEER_KNOWN);
}

/*
 * A client that need not be of this host, but may be: a session reaches
 * every address of it, and is no client at any.
 */
static uint32_t
from_elsewhere(int sock_fd, const struct ends *e, struct verdict *v)
{
	struct diag_socket s;
	enum diag_result r = find_client(sock_fd, e, &s);
	uint32_t what = PEER_UNAUTHENTICATED;
	bool remote = !endpoint_is_loopback(&e->peer) &&
	    !endpoint_same_addr(&e->peer, &e->local);

	if (r != DIAG_FOUND && !(r == DIAG_NONE && remote))
		return not_found(r, v);
	if (r != DIAG_FOUND)
		return what;
	what = by_check(origin_check(&s, v->why, sizeof(v->why)), what);
	/* so that one user's wrong tries make no other user wait */
	if (what == PEER_UNAUTHENTICATED)
		v->principal.uid = s.uid;
	return what;
}

static uint32_t
by_rule(int sock_fd, const struct ends *e, const struct rule *rule,
    struct verdict *v)
{
	uint32_t what = from_elsewhere(sock_fd, e, v);

	if (what != PEER_UNAUTHENTICATED)
		return what;
	what = known_as(v, rule->uid);
	if (what == PEER_KNOWN)
		v->principal.flags = PRINCIPAL_BY_RULE;
	return what;
}

/* -1 before Linux 6.5; where there could be one and is none, it has gone. */
static int
pidfd_of_peer(int sock_fd, bool *gone)
{
	socklen_t len = sizeof(int);
	int pidfd = -1;

	*gone = getsockopt(sock_fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd,
	    &len) == -1 && errno != ENOPROTOOPT;
	return pidfd;
}

static uint32_t
check_origin(int sock_fd, pid_t pid, struct verdict *v)
{
	uint32_t what;
	bool gone;
	int pidfd = pidfd_of_peer(sock_fd, &gone);

	if (gone) {
		what = by_check(origin_lacks() ? 1 : -1, PEER_KNOWN);
		(void)refuse(v, "the process that connected has ended, or "
		    "there is no descriptor left for it");
		return what;
	}
	what = by_check(origin_check_pid(pid, pidfd, v->why,
	    sizeof(v->why)), PEER_KNOWN);
	if (pidfd != -1)
		close(pidfd);
	return what;
}

/* Credentials that the kernel noted at connect(2): SO_PEERCRED, unix(7). */
static uint32_t
by_credentials(int sock_fd, struct verdict *v)
{
	struct ucred cr;
	socklen_t len = sizeof(cr);
	uint32_t what;

	if (getsockopt(sock_fd, SOL_SOCKET, SO_PEERCRED, &cr, &len) == -1 ||
	    len != sizeof(cr) || cr.pid <= 0)
		return refuse(v, "the kernel does not know its credentials");
	(void)snprintf(v->address, sizeof(v->address), "pid %d", cr.pid);
	what = known_as(v, cr.uid);
	if (what != PEER_KNOWN)
		return what;
	what = check_origin(sock_fd, cr.pid, v);
	if (what != PEER_KNOWN)
		return what;
	/* only here is root known not to be a proxy for somebody else */
	if (cr.uid == 0)
		v->principal.flags |= PRINCIPAL_ADMIN;
	return PEER_KNOWN;
}

static uint32_t
by_address(int sock_fd, struct verdict *v)
{
	const struct rule *rule;
	const char *wrong;
	struct ends e;

	wrong = ends_of(sock_fd, &e);
	if (wrong != NULL)
		return refuse(v, wrong);
	(void)endpoint_text(&e.peer, v->address);
	v->principal.uid = (uid_t)-1;
	if (!diag_is_open())
		return refuse(v, "the daemon has not told how to ask for "
		    "owners of sockets yet");
	/* debug ports have no rule: any identified user passes */
	rule = rules_find(&e.local);
	if (rule != NULL && (rule->flags & LISTENER_WEB) != 0)
		v->door = DOOR_WEB;
	if (rule != NULL && (rule->flags & LISTENER_AUTH_NONE) != 0)
		return by_rule(sock_fd, &e, rule, v);
	/* what a browser sends, it may send for any page: it has to log in */
	if (v->door == DOOR_WEB)
		return from_elsewhere(sock_fd, &e, v);
	if (endpoint_is_loopback(&e.local) && endpoint_is_loopback(&e.peer))
		return by_owner(sock_fd, &e, v);
	if (rule != NULL)
		return from_elsewhere(sock_fd, &e, v);
	return refuse(v, "only clients on the loopback addresses can be "
	    "identified here");
}

void
peer_identify(int sock_fd, struct verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->door = endpoint_is_local(sock_fd) ? DOOR_LOCAL : DOOR_TCP;
	v->what = v->door == DOOR_LOCAL ? by_credentials(sock_fd, v) :
	    by_address(sock_fd, v);
	if (v->what == PEER_REFUSED || v->what == PEER_LATER)
		/* no more of it than whether it is locked or has expired */
		v->principal = (struct principal){ .uid = (uid_t)-1, .flags =
		    acct_to_flags(acct_of_flags(v->principal.flags)) };
}

void
peer_refuse(struct verdict *v, const char *why)
{
	memset(v, 0, sizeof(*v));
	v->door = DOOR_LOCAL;
	v->what = refuse(v, why);
	v->principal.uid = (uid_t)-1;
}
