/* SPDX-License-Identifier: ISC */
/* Guests of sessions, and the few things that they may ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "spawner/client/answer.h"
#include "spawner/client/audit.h"
#include "spawner/link/peers.h"

/* More names than these are not kept apart. */
#define NAMES_MAX	64
#define NAMELESS	"guest"
/* Far above all uids of sessions' owners, should one be taken for the other. */
#define NUMBERS		0xc0000000U

/* Messages a guest may send; others are refused, also those added later. */
static const bool allowed[MSG_COUNT] = {
	[MSG_CONN_CLOSED] = true,
	[MSG_ARM] = true,
	[MSG_TTY_INPUT] = true,
	[MSG_RESIZE] = true,
	[MSG_FLOW] = true,
	[MSG_TTY_MARK] = true,
};

/* They are asked for by name and right, so each of these is there once. */
static struct guest *
find(const struct session *s, enum access most, const char *name)
{
	struct guest *g;

	LIST_FOREACH(g, &s->guests, next)
		if (g->viewer.most == most && strcmp(g->self.name, name) == 0)
			return g;
	return NULL;
}

static size_t
count(const struct session *s)
{
	const struct guest *g;
	size_t n = 0;

	LIST_FOREACH(g, &s->guests, next)
		n++;
	return n;
}

/* NULL without memory. */
static struct guest *
guest_make(struct session *s, enum access most, const char *name)
{
	static uint32_t number;
	struct guest *g;

	if (count(s) >= NAMES_MAX)
		name = NAMELESS;
	g = find(s, most, name);
	if (g != NULL)
		return g;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return NULL;
	g->self.uid = NUMBERS | (++number & ~NUMBERS);
	(void)snprintf(g->self.name, sizeof(g->self.name), "%s", name);
	STAILQ_INIT(&g->self.events.head);
	g->viewer.owner = &g->self;
	g->viewer.only = s;
	g->viewer.most = most;
	LIST_INSERT_HEAD(&s->guests, g, next);
	return g;
}

bool
guest_admit(struct client *c, uint64_t request, const struct key *k)
{
	struct session *s = session_find(&k->session);
	/* a ticket is its maker's own way in, a session's key is anybody's */
	const char *name = k->kind == KEY_TICKET ? k->maker->owner->name :
	    NAMELESS;
	struct guest *g = s == NULL ? NULL : guest_make(s, k->access, name);
	uint32_t flags = PRINCIPAL_GUEST;
	struct msg_out *o;

	if (g == NULL)
		return false;
	if (k->access < ACCESS_USE)
		flags |= PRINCIPAL_READ_ONLY;
	memcpy(c->token, k->token, sizeof(c->token));
	memcpy(c->key, k->kind == KEY_TICKET ? k->parent : k->id,
	    sizeof(c->key));
	c->maker = k->maker;
	c->root = k->root;
	/* the guest sees the session before netproc hears of the guest */
	client_become(c, &g->viewer, flags);
	o = msg_new(MSG_AUTHED, &s->id, c->number, request);
	msg_put_u32(o, g->self.uid);
	msg_put_u32(o, flags);
	msg_put_str(o, g->self.name);
	(void)chan_send(&netproc_chan, o, -1);
	audit_login(c);
	return true;
}

/*
 * A command on a terminal that its owner has never started waits for the first
 * who comes, and starts as its owner has made it.
 */
static bool
is_first_start(const struct viewer *v, const struct msg *m)
{
	struct session *s = v->only;
	struct msg copy = *m;

	return m->hdr.type == MSG_START && session_find(&m->hdr.session) == s &&
	    s->state == STATE_LOADED && s->view.run == 0 && s->view.command &&
	    s->view.tty && msg_get_u32(&copy) == START_TTY &&
	    msg_get_u32(&copy) == SANDBOX_DEFAULT &&
	    msg_get_u32(&copy) == NETWORK_DEFAULT;
}

bool
guest_refused(const struct msg *m, const struct msg_row *row)
{
	const struct client *c = client_find(m->hdr.conn);
	struct asker a;

	if (c == NULL || c->viewer == NULL || c->viewer->only == NULL ||
	    allowed[m->hdr.type] || is_first_start(c->viewer, m))
		return false;
	if (asker_init(&a, m, row->name))
		answer(&a, &m->hdr.session, ERR_NOT_PERMITTED, "this "
		    "connection is a guest of one session's terminal, and may "
		    "not do more there than type and watch");
	return true;
}

void
guest_end_session(struct session *s)
{
	struct guest *g;

	keys_end_session(&s->id);
	while ((g = LIST_FIRST(&s->guests)) != NULL) {
		client_end_viewer(&g->viewer);
		viewer_release(&g->viewer);
		LIST_REMOVE(g, next);
		free(g);
	}
}

void
key_ended(const struct key *k)
{
	client_end_key(k->id);
}
