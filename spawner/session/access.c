/* SPDX-License-Identifier: ISC */
/* Viewers, and what each of them is shown by netproc. */
#include <stdlib.h>

#include "access.h"
#include "owner.h"
#include "push.h"
#include "session.h"
#include "spawner/link/peers.h"
#include "usage.h"

/*
 * Clients of one command come back soon: the replica stays so long after a
 * user's last connection.
 */
#define LINGER_MS	30000

/* Until what could not be told for want of memory is told. */
#define AGAIN_MS	100

static struct loop_timer again;
/* Viewers that netproc holds a replica for. */
static LIST_HEAD(, viewer) held = LIST_HEAD_INITIALIZER(held);

struct viewer *
viewer_make(uint32_t uid, const char *name, bool admin)
{
	struct owner *o = owner_make(uid, name);

	return o == NULL ? NULL : &o->viewers[admin];
}

struct share *
access_share(const struct session *s, uint32_t uid)
{
	size_t i;

	for (i = 0; i < s->nshares; i++)
		if (s->shares[i].uid == uid)
			return &s->shares[i];
	return NULL;
}

enum access
access_of(const struct viewer *v, const struct session *s)
{
	const struct share *h;

	if (v->only != NULL)
		return v->only == s ? v->most : ACCESS_NONE;
	if (v->admin || v->owner == s->owner)
		return ACCESS_OWN;
	h = access_share(s, v->owner->uid);
	return h == NULL ? ACCESS_NONE : h->access;
}

/* A share has a label only for users who have accepted it. */
static bool
is_named(const struct viewer *v, const struct session *s)
{
	const struct share *h;

	if (v->only != NULL || v->admin || v->owner == s->owner)
		return true;
	h = access_share(s, v->owner->uid);
	return h != NULL && h->accepted;
}

static struct viewer_access *
viewer_access_find(const struct session *s, const struct viewer *v)
{
	struct viewer_access *g;

	LIST_FOREACH(g, &s->viewer_accesses, next)
		if (g->viewer == v)
			return g;
	return NULL;
}

/*
 * An owner can always be shown a new session: the owner's struct viewer_access
 * is a part of the session.  NULL: there is no memory for another user's.
 */
static struct viewer_access *
viewer_access_new(struct session *s, struct viewer *v)
{
	if (v->only == NULL && v->owner == s->owner)
		return &s->own_access[v->admin];
	return calloc(1, sizeof(struct viewer_access));
}

static void
viewer_access_free(struct session *s, struct viewer_access *g)
{
	LIST_REMOVE(g, next);
	if (g != &s->own_access[0] && g != &s->own_access[1])
		free(g);
}

/* Shows sessions to viewers for whom there was no memory before. */
static void
on_again(void *arg)
{
	struct session *s;

	(void)arg;
	SESSION_FOREACH(s)
		access_update(s);
}

bool
access_is_told(const struct session *s)
{
	return !LIST_EMPTY(&s->viewer_accesses);
}

static void
tell(const struct session *s, const struct viewer *v, enum access access,
    bool named)
{
	struct msg_out *o = msg_new(MSG_SEES, &s->id, 0, 0);

	msg_put_u32(o, v->owner->uid);
	msg_put_u32(o, v->only != NULL ? EYES_GUEST :
	    v->admin ? EYES_ADMIN : EYES_OWN);
	msg_put_u32(o, access);
	msg_put_u32(o, named);
	(void)chan_send(&netproc_chan, o, -1);
}

/* Sends a new viewer the full session before telling the viewer's access. */
static void
grant(struct session *s, struct viewer *v, enum access access)
{
	struct viewer_access *g = viewer_access_new(s, v);
	bool first = LIST_EMPTY(&s->viewer_accesses);

	if (g == NULL) {
		loop_timer_set(&again, AGAIN_MS, on_again, NULL);
		return;
	}
	g->viewer = v;
	g->access = access;
	g->named = is_named(v, s);
	LIST_INSERT_HEAD(&s->viewer_accesses, g, next);
	if (first) {
		usage_forget(s);
		push_session(s);
		push_ring(s);
	}
	tell(s, v, access, g->named);
}

static void
revoke(struct session *s, struct viewer_access *g)
{
	struct viewer *v = g->viewer;

	viewer_access_free(s, g);
	if (LIST_EMPTY(&s->viewer_accesses))
		push_gone(s);
	else
		tell(s, v, ACCESS_NONE, false);
}

static void
adjust(struct session *s, struct viewer *v)
{
	enum access access = v->held && session_is_shown(s) ?
	    access_of(v, s) : ACCESS_NONE;
	struct viewer_access *g = viewer_access_find(s, v);

	if (g == NULL) {
		if (access != ACCESS_NONE)
			grant(s, v, access);
	} else if (access == ACCESS_NONE)
		revoke(s, g);
	else if (access != g->access || g->named != is_named(v, s)) {
		g->access = access;
		g->named = is_named(v, s);
		tell(s, v, access, g->named);
	}
}

void
access_update(struct session *s)
{
	struct viewer *v;

	LIST_FOREACH(v, &held, next)
		adjust(s, v);
}

void
access_end(struct session *s)
{
	struct viewer_access *g;

	if (access_is_told(s))
		push_gone(s);
	while ((g = LIST_FIRST(&s->viewer_accesses)) != NULL)
		viewer_access_free(s, g);
}

static void
adjust_all(struct viewer *v)
{
	struct session *s;

	if (v->only != NULL) {
		adjust(v->only, v);
		return;
	}
	SESSION_FOREACH(s)
		adjust(s, v);
}

void
viewer_release(struct viewer *v)
{
	loop_timer_unset(&v->linger);
	if (v->held)
		LIST_REMOVE(v, next);
	v->held = false;
}

static void
on_linger(void *arg)
{
	struct viewer *v = arg;
	struct session *s;

	/* the debug port of a session belongs to its replica */
	SESSION_FOREACH(s)
		if (s->gdb.phase != GDB_NONE &&
		    viewer_access_find(s, v) != NULL) {
			loop_timer_set(&v->linger, LINGER_MS, on_linger, v);
			return;
		}
	viewer_release(v);
	adjust_all(v);
}

void
viewer_join(struct viewer *v)
{
	v->nconns++;
	loop_timer_unset(&v->linger);
	/* a start that follows needs the account at once; guests have none */
	if (v->only == NULL)
		account_refresh(v->owner);
	if (v->held)
		return;
	v->held = true;
	LIST_INSERT_HEAD(&held, v, next);
	adjust_all(v);
}

void
viewer_leave(struct viewer *v)
{
	if (--v->nconns == 0 && v->held)
		loop_timer_set(&v->linger, LINGER_MS, on_linger, v);
}

void
viewer_forget_all(void)
{
	struct session *s;
	struct viewer_access *g;

	while (!LIST_EMPTY(&held))
		viewer_release(LIST_FIRST(&held));
	SESSION_FOREACH(s)
		while ((g = LIST_FIRST(&s->viewer_accesses)) != NULL)
			viewer_access_free(s, g);
}
