/* SPDX-License-Identifier: ISC */
/*
 * Listening sockets, which setup has made: handed to netproc and tlsproc;
 * idproc gets the rule that goes with each.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "parent.h"

static uint16_t
port_of(const struct sockaddr_storage *ss)
{
	return ntohs(ss->ss_family == AF_INET6 ?
	    ((const struct sockaddr_in6 *)ss)->sin6_port :
	    ((const struct sockaddr_in *)ss)->sin_port);
}

static bool
has_text(const struct plan *p, const char *text)
{
	size_t i;

	for (i = 0; i < p->nlisteners; i++)
		if (strcmp(p->listeners[i].text, text) == 0)
			return true;
	return false;
}

/* As the start names all that there are. */
static void
say_changes(const struct plan *from, const struct plan *to)
{
	const struct listener *l;

	for (l = from->listeners; l < from->listeners + from->nlisteners; l++)
		if (!has_text(to, l->text))
			log_info("no longer listening on %s", l->text);
	for (l = to->listeners; l < to->listeners + to->nlisteners; l++) {
		if (has_text(from, l->text))
			continue;
		log_info("listening on %s", l->text);
		if (l->flags & LISTENER_AUTH_NONE)
			log_warnx("%s: everybody who reaches it acts as that "
			    "user", l->text);
	}
}

static void
close_one(struct listener *l)
{
	if (l->fd == -1)
		return;
	close(l->fd);
	l->fd = -1;
	if (l->addr.ss_family == AF_UNIX)
		(void)unlink(((struct sockaddr_un *)&l->addr)->sun_path);
}

static void
gone(const struct plan *from, size_t i)
{
	struct msg_out *o = msg_new(MSG_LISTENER_GONE, NULL, 0, 0);

	msg_put_u32(o, (uint32_t)i);
	(void)child_send(ROLE_NETPROC, o, -1);
	if (!(from->listeners[i].flags & LISTENER_TLS))
		return;
	o = msg_new(MSG_TLS_LISTENER_GONE, NULL, 0, 0);
	msg_put_u32(o, (uint32_t)i);
	(void)child_send(ROLE_TLSPROC, o, -1);
}

void
listen_move(struct plan *from, struct plan *to)
{
	struct listener *l;
	size_t i;

	if (from == NULL)
		return;
	say_changes(from, to);
	for (l = to->listeners; l < to->listeners + to->nlisteners; l++) {
		if (l->fd != -1)
			continue;
		l->fd = from->listeners[l->was].fd;
		from->listeners[l->was].fd = -1;
	}
	for (i = 0; i < from->nlisteners; i++) {
		gone(from, i);
		close_one(&from->listeners[i]);
	}
}

static void
hand_rules(void)
{
	const struct listener *l;
	struct msg_out *o;
	size_t i;

	for (i = 0; i < d.plan->nlisteners; i++) {
		l = &d.plan->listeners[i];
		if (l->addr.ss_family == AF_UNIX)
			continue;
		o = msg_new(MSG_LISTENER_RULE, NULL, 0, 0);
		msg_put_u32(o, (uint32_t)i);
		msg_put_u32(o, l->flags);
		msg_put_u32(o, l->uid);
		msg_put_bytes(o, &l->addr, l->len);
		(void)child_send(ROLE_IDPROC, o, -1);
	}
	(void)child_send(ROLE_IDPROC, msg_new(MSG_LISTENER_RULES_END, NULL, 0,
	    0), -1);
}

/* The role that accepts gets the socket; netproc serves both in the end. */
static void
hand_one(enum role role, size_t i)
{
	const struct listener *l = &d.plan->listeners[i];
	bool tls = (l->flags & LISTENER_TLS) != 0;
	struct msg_out *o;

	if (role == ROLE_TLSPROC && !tls)
		return;
	o = msg_new(role == ROLE_TLSPROC ? MSG_TLS_LISTENER :
	    tls ? MSG_TLS_DOOR : MSG_LISTENER, NULL, 0, 0);
	msg_put_u32(o, (uint32_t)i);
	if (role == ROLE_NETPROC) {
		msg_put_u32(o, l->flags);
		msg_put_str(o, l->text);
	}
	(void)child_lend(role, o, role == ROLE_NETPROC && tls ? -1 : l->fd);
}

void
listen_hand_out(enum role role)
{
	size_t i;

	if (role == ROLE_IDPROC)
		hand_rules();
	if (role == ROLE_NETPROC) {
		parent_hooks->tell_mdns();
		tls_tell();
	}
	if (role != ROLE_NETPROC && role != ROLE_TLSPROC)
		return;
	for (i = 0; i < d.plan->nlisteners; i++)
		if (d.plan->listeners[i].fd != -1)
			hand_one(role, i);
}

uint16_t
listen_tls_port(void)
{
	const struct listener *l = d.plan->listeners;

	for (; l < d.plan->listeners + d.plan->nlisteners; l++)
		if (l->addr.ss_family != AF_UNIX && (l->flags &
		    (LISTENER_TLS | LISTENER_WEB)) == LISTENER_TLS)
			return port_of(&l->addr);
	return 0;
}

void
listen_close(void)
{
	size_t i;

	for (i = 0; i < d.plan->nlisteners; i++)
		close_one(&d.plan->listeners[i]);
	d.plan->nlisteners = 0;
}

void
listen_describe(void (*fn)(const char *))
{
	size_t i;

	for (i = 0; i < d.plan->nlisteners; i++)
		fn(d.plan->listeners[i].text);
}

void
announce_send(void)
{
	uint32_t families = 0, flags = 0;
	const struct listener *l = d.plan->listeners;
	struct msg_out *o;

	if (!d.plan->mdns)
		return;
	for (; l < d.plan->listeners + d.plan->nlisteners; l++) {
		flags |= l->flags;
		families |= l->addr.ss_family == AF_INET ? 1U :
		    l->addr.ss_family == AF_INET6 ? 2U : 0;
	}
	o = msg_new(MSG_ANNOUNCE, NULL, 0, 0);
	msg_put_u32(o, (uint32_t)d.plan->settings.port);
	msg_put_u32(o, (uint32_t)d.plan->settings.web_port);
	msg_put_u32(o, listen_tls_port());
	msg_put_u32(o, families);
	msg_put_str(o, d.plan->service);
	msg_put_str(o, DL_VERSION);
	msg_put_str(o, flags & LISTENER_AUTH_NONE ? "none" : "peer");
	msg_put_str(o, listen_tls_port() != 0 ? tls_fingerprint() : "");
	(void)child_send(ROLE_ANNOUNCER, o, -1);
}
