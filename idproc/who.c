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

#include "diag.h"
#include "endpoint.h"
#include "origin.h"
#include "proto.h"
#include "rules.h"
#include "who.h"

static int
refuse(char *why, const char *text)
{
	(void)snprintf(why, WHO_REASON_MAX, "%s", text);
	return -1;
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

static int
not_found(enum diag_result r, char *why)
{
	if (r != DIAG_FAILED)
		return refuse(why, "the client has closed already");
	(void)snprintf(why, WHO_REASON_MAX, "the kernel was asked by sock_diag "
	    "for its owner and failed: %s", strerrordesc_np(errno));
	return -1;
}

static int
by_owner(int sock_fd, const struct ends *e, struct principal *p, char *why)
{
	struct diag_socket s;
	enum diag_result r;

	if (!endpoint_is_loopback(&e->local) || !endpoint_is_loopback(&e->peer))
		return refuse(why, "only clients on the loopback addresses can "
		    "be identified here; others need a listener with \"auth "
		    "none as USER\"");
	r = find_client(sock_fd, e, &s);
	if (r != DIAG_FOUND)
		return not_found(r, why);
	if (principal_of(s.uid, p, why, WHO_REASON_MAX) == -1)
		return -1;
	return origin_check(&s, why, WHO_REASON_MAX);
}

/*
 * Everybody is the rule's user, but for sessions, which may come here by any
 * address of this host.
 */
static int
by_rule(int sock_fd, const struct ends *e, const struct rule *rule,
    struct principal *p, char *why)
{
	struct diag_socket s;
	enum diag_result r = find_client(sock_fd, e, &s);
	bool remote = !endpoint_is_loopback(&e->peer) &&
	    !endpoint_same_addr(&e->peer, &e->local);

	if (r != DIAG_FOUND && !(r == DIAG_NONE && remote))
		return not_found(r, why);
	if (r == DIAG_FOUND && origin_check(&s, why, WHO_REASON_MAX) == -1)
		return -1;
	return principal_of(rule->uid, p, why, WHO_REASON_MAX);
}

/* Who connected, as the kernel noted it then: SO_PEERCRED, unix(7). */
static int
by_credentials(int sock_fd, struct principal *p, char *why)
{
	struct ucred cr;
	socklen_t len = sizeof(cr);

	if (getsockopt(sock_fd, SOL_SOCKET, SO_PEERCRED, &cr, &len) == -1 ||
	    len != sizeof(cr) || cr.pid <= 0)
		return refuse(why, "the kernel does not know its credentials");
	if (principal_of(cr.uid, p, why, WHO_REASON_MAX) == -1)
		return -1;
	return origin_check_pid(cr.pid, why, WHO_REASON_MAX);
}

int
who_is(int sock_fd, struct principal *p, char why[WHO_REASON_MAX])
{
	const struct rule *rule;
	const char *wrong;
	struct ends e;

	if (endpoint_is_local(sock_fd))
		return by_credentials(sock_fd, p, why);
	wrong = ends_of(sock_fd, &e);
	if (wrong != NULL)
		return refuse(why, wrong);
	if (!diag_is_open())
		return refuse(why, "the daemon has not told how to ask for "
		    "owners of sockets yet");
	/* debug ports have no rule: they are for whoever is identified */
	rule = rules_find(&e.local);
	if (rule != NULL && (rule->flags & LISTENER_AUTH_NONE) != 0)
		return by_rule(sock_fd, &e, rule, p, why);
	return by_owner(sock_fd, &e, p, why);
}
