/* SPDX-License-Identifier: ISC */
/* Identity of connections: questions to idproc, and what they lead to. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "answer.h"
#include "ask.h"
#include "base/log.h"
#include "identity.h"
#include "netproc/text/line.h"
#include "prelogin.h"
#include "replica.h"
#include "wire/accept.h"
#include "wire/acct.h"
#include "wire/proto.h"
#include "wire/role.h"

/* All guests together have one of so many parts of all connections. */
#define GUESTS_PART	4

/* A question may be lost when idproc or the spawner is restarted. */
#define RETRY_MS	1000

static struct channel	idproc_chan;
static uint64_t		nguests;
static const struct identity_others *others;

void
identity_others(const struct identity_others *o)
{
	others = o;
}

int
identity_ask(uint32_t number, int sock_fd)
{
	int fd = fcntl(sock_fd, F_DUPFD_CLOEXEC, 0);

	if (fd == -1)
		return -1;
	return chan_send(&idproc_chan, msg_new(MSG_WHO, NULL, number, 0), fd);
}

void
identity_closed(uint32_t number)
{
	(void)chan_send(&spawner_chan,
	    msg_new(MSG_CONN_CLOSED, NULL, number, 0), -1);
}

/* Until then it is asked for again. */
static uint64_t *
end_ms(struct conn *c)
{
	return conn_state(c, uint64_t);
}

void
identity_start(struct conn *c)
{
	conn_enter(c, &mode_ident);
	c->due_ms = loop_now_ms() + RETRY_MS;
	*end_ms(c) = loop_now_ms() + settings.line_timeout * 1000;
	/* with one of the two missing the answer would be lost */
	if (chan_is_open(&spawner_chan) && chan_is_open(&idproc_chan))
		(void)identity_ask(c->number, conn_socket(c));
}

static void
ident_expired(struct conn *c)
{
	uint64_t end = *end_ms(c);

	if (loop_now_ms() >= end) {
		answer_error(c, ERR_TRY_AGAIN, NULL);
		conn_finish(c);
		return;
	}
	identity_start(c);
	*end_ms(c) = end;
}

const struct conn_mode mode_ident = {
	.name = "ident",
	.clock = CLOCK_LINE,
	.expired = ident_expired,
};

static void
leave_owner(struct conn *c)
{
	prelogin_leave(c);
	c->owner->nconns -= c->counted;
	if (c->owner->guest)
		nguests -= c->counted;
	owner_unref(c->owner);
	c->owner = NULL;
}

static enum eyes
eyes_of(uint32_t flags)
{
	return flags & PRINCIPAL_GUEST ? EYES_GUEST :
	    flags & PRINCIPAL_ADMIN ? EYES_ADMIN : EYES_OWN;
}

/*
 * A user may make sessions, and keys of them for guests, without end: what
 * those may have is counted for all of them.
 */
static bool
has_place(const struct owner *o)
{
	uint64_t most = settings.max_connections / GUESTS_PART;

	if (o->uid == UID_UNKNOWN)
		return true;
	return o->nconns < settings.max_connections_per_user &&
	    (!o->guest || nguests < (most > 0 ? most : 1));
}

/* false when this user has connections enough. */
static bool
join_owner(struct conn *c, uint32_t uid, enum eyes eyes, const char *name)
{
	struct owner *o = owner_ref(uid, eyes);

	if (o == NULL)
		return false;
	(void)snprintf(o->name, sizeof(o->name), "%s", name);
	c->owner = o;
	/* one that is refused takes no place while it is told so */
	c->counted = has_place(o);
	o->nconns += c->counted;
	if (o->guest)
		nguests += c->counted;
	return c->counted;
}

void
identity_forget(struct conn *c)
{
	/* not earlier: the spawner has heard of it before we did */
	if (c->owner == NULL)
		return;
	leave_owner(c);
	identity_closed(c->number);
}

static void
again_one(struct conn *c, void *arg)
{
	(void)arg;
	if (c->mode == &mode_ident)
		ident_expired(c);
	conn_run(c);
}

void
identity_ask_again(void)
{
	conn_each(again_one, NULL);
	if (others != NULL)
		others->again();
}

static void
refuse(struct conn *c, uint32_t err, const char *message)
{
	answer_error(c, err, message);
	conn_finish(c);
}

static void
ready(struct conn *c)
{
	if (c->synced && c->owner != NULL && c->mode == &mode_ident)
		conn_enter(c, &mode_line);
}

static void
identified(struct conn *c, uint32_t uid, uint32_t flags, const char *name)
{
	enum eyes eyes = eyes_of(flags);

	if (c->owner == NULL && !join_owner(c, uid, eyes, name)) {
		refuse(c, ERR_MAX_CONNECTIONS, "this user has as many "
		    "connections as the configuration allows; close one "
		    "first");
		return;
	}
	/* the spawner was restarted, and knows nothing of tokens given */
	if (c->by_token) {
		refuse(c, ERR_TRY_AGAIN, "a part of the daemon was restarted; "
		    "connect and AUTH again");
		return;
	}
	if (c->owner->uid != uid || c->owner->eyes != eyes) {
		log_warnx("a connection changed from uid %u to uid %u; closed",
		    c->owner->uid, uid);
		c->dead = true;
		return;
	}
	ready(c);
}

static void
judged(struct conn *c, uint32_t verdict, uint32_t uid, uint32_t flags,
    const char *name, const char *address)
{
	if (verdict == PEER_UNAUTHENTICATED && c->owner == NULL &&
	    !prelogin_enter(c, uid, address)) {
		identity_closed(c->number);
		refuse(c, ERR_MAX_CONNECTIONS, "too many connections from "
		    "elsewhere wait for AUTH; try again");
	} else if (verdict == PEER_UNAUTHENTICATED)
		identified(c, UID_UNKNOWN, 0, "");
	else if (verdict == PEER_KNOWN)
		identified(c, uid, flags, name);
	else if (verdict == PEER_LATER)
		refuse(c, ERR_TRY_AGAIN, "a part of the daemon is being "
		    "restarted or has no room; connect again");
	else if (acct_is_shut(acct_of_flags(flags)))
		refuse(c, ERR_NOT_PERMITTED, acct_fault(acct_of_flags(flags)));
	else
		refuse(c, ERR_NOT_PERMITTED, "this connection does not belong "
		    "to a user that this daemon serves; its log says why");
}

int
net_on_peer_is(struct msg *m)
{
	uint32_t verdict = msg_get_u32(m), uid = msg_get_u32(m);
	uint32_t flags = msg_get_u32(m);
	char name[USER_NAME_MAX], address[ADDRESS_TEXT], why[512];
	struct conn *c = conn_find(m->hdr.conn);
	bool refused;

	msg_get_str(m, name, sizeof(name));
	msg_get_str(m, address, sizeof(address));
	msg_get_str(m, why, sizeof(why));
	if (msg_end(m) == -1 || verdict > PEER_LATER)
		return -1;
	refused = verdict == PEER_REFUSED || verdict == PEER_LATER;
	if (c == NULL) {
		if ((others == NULL || !others->is(m->hdr.conn,
		    verdict == PEER_KNOWN, uid, why)) && !refused)
			identity_closed(m->hdr.conn);
		return 0;
	}
	if (c->mode != &mode_ident)
		return 0;
	if (refused)
		accept_log("a connection was refused: %s", why);
	judged(c, verdict, uid, flags, name, address);
	conn_run(c);
	return 0;
}

bool
identity_set(struct conn *c, uint32_t uid, uint32_t flags, const char *name)
{
	leave_owner(c);
	c->unauthenticated = false;
	c->by_token = true;
	/* only the client itself has its token */
	c->hello.wanted = false;
	c->read_only = (flags & PRINCIPAL_READ_ONLY) != 0;
	return join_owner(c, uid, eyes_of(flags), name);
}

int
net_on_synced(struct msg *m)
{
	struct conn *c = conn_find(m->hdr.conn);

	if (c != NULL) {
		c->synced = true;
		ready(c);
		conn_run(c);
	}
	return msg_end(m);
}

/* Its token was revoked or has expired: between answers nothing can be said. */
int
net_on_conn_end(struct msg *m)
{
	struct conn *c = conn_find(m->hdr.conn);

	if (c != NULL) {
		c->dead = true;
		conn_run(c);
	}
	return msg_end(m);
}

static void
gone(struct channel *ch, const char *why)
{
	role_peer_gone(ch, why);
}

void
identity_init(void)
{
	chan_init(&idproc_chan, ROLE_NETPROC, ROLE_IDPROC, gone, NULL);
}

void
identity_peer(int fd, uint32_t generation)
{
	chan_close(&idproc_chan);
	if (chan_open(&idproc_chan, fd, generation) == -1)
		role_peer_gone(&idproc_chan, NULL);
	identity_ask_again();
}
