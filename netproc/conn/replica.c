/* SPDX-License-Identifier: ISC */
/* The copy of the sessions: kept by messages, asked by commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "base/log.h"
#include "replica.h"
#include "wire/label.h"

#define HASH		256
#define JSON_MAX	((size_t)1 << 20)

static LIST_HEAD(, rsession) table[HASH];
static LIST_HEAD(, owner) owners;
static uint64_t		 last_seq;
static const struct replica_watcher *watcher;

void
replica_watch(const struct replica_watcher *w)
{
	watcher = w;
}

struct owner *
owner_ref(uint32_t uid, enum eyes eyes)
{
	struct owner *o;

	LIST_FOREACH(o, &owners, all)
		if (o->uid == uid && o->eyes == eyes) {
			o->refs++;
			return o;
		}
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return NULL;
	o->uid = uid;
	o->eyes = eyes;
	o->admin = eyes == EYES_ADMIN;
	o->guest = eyes == EYES_GUEST;
	o->refs = 1;
	TAILQ_INIT(&o->visible);
	TAILQ_INIT(&o->changed);
	LIST_INIT(&o->feeds);
	LIST_INSERT_HEAD(&owners, o, all);
	return o;
}

void
owner_unref(struct owner *o)
{
	if (--o->refs > 0)
		return;
	LIST_REMOVE(o, all);
	free(o->gone);
	free(o);
}

/* Ids are random, so any of their bytes spread well. */
static size_t
slot(const struct sid *sid)
{
	return sid->b[0] % HASH;
}

struct rsession *
replica_find(const struct sid *sid)
{
	struct rsession *s;

	LIST_FOREACH(s, &table[slot(sid)], hash)
		if (memcmp(&s->sid, sid, sizeof(*sid)) == 0)
			return s;
	return NULL;
}

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A whole id, which is what most clients send. */
static bool
parse_id(const struct word *w, struct sid *sid)
{
	size_t i, n = 0;
	int high, low;

	if (w->len != ID_TEXT - 1)
		return false;
	for (i = 0; i + 1 < w->len; ) {
		if (w->p[i] == '-') {
			i++;
			continue;
		}
		high = hex_value(w->p[i]);
		low = hex_value(w->p[i + 1]);
		if (high == -1 || low == -1 || n == sizeof(sid->b))
			return false;
		sid->b[n++] = (uint8_t)(high << 4 | low);
		i += 2;
	}
	return n == sizeof(sid->b);
}

static bool
is_prefix(const struct word *w, const char *id)
{
	size_t i;

	if (w->len == 0 || w->len >= ID_TEXT)
		return false;
	for (i = 0; i < w->len; i++)
		if (w->p[i] != id[i] && (hex_value(w->p[i]) == -1 ||
		    hex_value(w->p[i]) != hex_value(id[i])))
			return false;
	return true;
}

static struct visible_session *
visible_find(const struct owner *o, const struct rsession *s)
{
	struct visible_session *g;

	LIST_FOREACH(g, &s->visible, by_session)
		if (g->owner == o)
			return g;
	return NULL;
}

enum access
replica_access(const struct owner *o, const struct rsession *s)
{
	const struct visible_session *g = visible_find(o, s);

	return g == NULL ? ACCESS_NONE : (enum access)g->access;
}

bool
replica_may_use(const struct conn *c, const struct rsession *s)
{
	return !c->read_only && replica_access(c->owner, s) >= ACCESS_USE;
}

const struct text *
replica_json(const struct conn *c, const struct rsession *s)
{
	return s->view.env_len == 0 || replica_may_use(c, s) ? &s->json
							     : &s->names;
}

/*
 * A guest sees no other session.  For everybody else a label alone is of the
 * user's own: anybody could share one under the same label.
 */
static bool
is_own(const struct owner *o, const struct rsession *s)
{
	return o->guest || s->view.owner == o->uid;
}

static bool
has_label(const struct rsession *s, const struct word *w)
{
	return s->view.name[0] != '\0' && word_is(w, s->view.name);
}

static struct rsession *
by_label(const struct owner *o, const struct word *w)
{
	struct visible_session *g;

	TAILQ_FOREACH(g, &o->visible, by_owner)
		if (is_own(o, g->session) && has_label(g->session, w))
			return g->session;
	return NULL;
}

/* "alice/prod" into its parts. */
static bool
split_name(const struct word *w, struct word *user, struct word *label)
{
	const char *slash = memchr(w->p, '/', w->len);

	if (slash == NULL)
		return false;
	*user = (struct word){ w->p, (size_t)(slash - w->p) };
	*label = (struct word){ slash + 1, w->len - user->len - 1 };
	return true;
}

/* Two users have one name when an account was made anew. */
static struct rsession *
by_user_label(const struct owner *o, const struct word *w, bool named,
    uint32_t *err)
{
	struct rsession *found = NULL;
	struct word user, label;
	struct visible_session *g;

	if (!split_name(w, &user, &label))
		return NULL;
	TAILQ_FOREACH(g, &o->visible, by_owner) {
		if (g->named != named || !has_label(g->session, &label) ||
		    !word_is(&user, g->session->view.owner_name))
			continue;
		if (found != NULL) {
			*err = ERR_AMBIGUOUS_ID;
			return NULL;
		}
		found = g->session;
	}
	return found;
}

struct rsession *
replica_labelled(const struct owner *o, const char *label)
{
	const struct word w = { label, strlen(label) };
	struct rsession *s = w.len == 0 ? NULL : by_label(o, &w);

	return s != NULL && s->view.owner == o->uid ? s : NULL;
}

/* Shares make no prefix of the user's own sessions ambiguous. */
static struct rsession *
by_prefix(const struct owner *o, const struct word *w, uint32_t *err)
{
	struct rsession *found[2] = { NULL, NULL };	/* others', own */
	unsigned int n[2] = { 0, 0 };
	struct visible_session *g;
	bool own;

	TAILQ_FOREACH(g, &o->visible, by_owner) {
		if (!is_prefix(w, g->session->id))
			continue;
		own = is_own(o, g->session);
		/* fewer characters may be meant as a label of the user's own */
		if (!own && w->len < LABEL_ID_MIN)
			continue;
		found[own] = g->session;
		n[own]++;
	}
	own = n[true] > 0;
	if (n[own] <= 1)
		return found[own];
	*err = ERR_AMBIGUOUS_ID;
	return NULL;
}

/* The spawner keeps it; the next line need not wait for that. */
static void
accept_share(struct conn *c, const struct rsession *s)
{
	struct visible_session *g = visible_find(c->owner, s);

	if (g == NULL || g->named)
		return;
	g->named = true;
	(void)chan_send(&spawner_chan, ask_new(c, MSG_ACCEPT, &s->sid), -1);
}

static struct rsession *
by_whole_id(const struct owner *o, const struct word *w)
{
	struct rsession *s;
	struct sid sid;

	s = parse_id(w, &sid) ? replica_find(&sid) : NULL;
	return s != NULL && visible_find(o, s) != NULL ? s : NULL;
}

struct rsession *
replica_resolve(struct conn *c, const struct word *w, uint32_t *err)
{
	struct rsession *s = by_whole_id(c->owner, w), *labelled = NULL;

	*err = ERR_NOT_FOUND;
	if (s == NULL)
		labelled = by_label(c->owner, w);
	if (s == NULL && labelled == NULL)
		labelled = by_user_label(c->owner, w, true, err);
	if (labelled != NULL)
		return labelled;
	if (s == NULL && *err == ERR_NOT_FOUND)
		s = by_prefix(c->owner, w, err);
	if (s != NULL)
		accept_share(c, s);
	return s;
}

/* Another user's session that the label alone does not name. */
static const struct rsession *
others(const struct owner *o, const struct word *label)
{
	struct visible_session *g;

	/* a label leads to no share that was not accepted */
	TAILQ_FOREACH(g, &o->visible, by_owner)
		if (g->named && has_label(g->session, label))
			return g->session;
	return NULL;
}

const char *
replica_why(const struct conn *c, const struct word *w, uint32_t err)
{
	static char why[2 * SESSION_NAME_MAX + 160];
	const struct rsession *s;
	uint32_t ignored = err;

	if (err != ERR_NOT_FOUND)
		return NULL;
	s = by_user_label(c->owner, w, false, &ignored);
	if (s != NULL) {
		(void)snprintf(why, sizeof(why), "the share %s/%s has not been "
		    "accepted; look whether it is the right one, and use it "
		    "once by its id: %.8s", s->view.owner_name, s->view.name,
		    s->id);
		return why;
	}
	s = others(c->owner, w);
	if (s == NULL)
		return NULL;
	(void)snprintf(why, sizeof(why), "no session of yours has the label "
	    "%s; that of %s is %s/%s", s->view.name, s->view.owner_name,
	    s->view.owner_name, s->view.name);
	return why;
}

const struct ring *
replica_ring(const struct rsession *s)
{
	return s->ring.hdr != NULL && s->ring_run >= s->view.run ?
	    &s->ring : NULL;
}

void
replica_arm(struct rsession *s, uint64_t total)
{
	struct msg_out *o;

	if (s->armed)
		return;
	o = msg_new(MSG_ARM, &s->sid, 0, 0);
	msg_put_u64(o, total);
	s->armed = chan_send(&spawner_chan, o, -1) == 0;
}

/* Wakes the connections that watch this session; any of them may go away. */
static void
wake(struct rsession *s)
{
	struct conn *c, *next;

	for (c = TAILQ_FIRST(&s->watchers); c != NULL; c = next) {
		next = TAILQ_NEXT(c, watch);
		if (c->mode->changed != NULL)
			c->mode->changed(c);
		conn_run(c);
	}
}

/* Ends the waiting of those who may not see it any more; NULL = of all. */
static void
turn_away(struct rsession *s, const struct owner *o)
{
	struct conn_list orphans = TAILQ_HEAD_INITIALIZER(orphans);
	struct conn *c, *next;

	for (c = TAILQ_FIRST(&s->watchers); c != NULL; c = next) {
		next = TAILQ_NEXT(c, watch);
		if (o != NULL && c->owner != o)
			continue;
		TAILQ_REMOVE(&s->watchers, c, watch);
		TAILQ_INSERT_TAIL(&orphans, c, watch);
		c->watched = NULL;
	}
	/* conn_run() may free it, and takes it off no list: watched is NULL */
	while ((c = TAILQ_FIRST(&orphans)) != NULL) {
		TAILQ_REMOVE(&orphans, c, watch);
		conn_run(c);
	}
}

static void
visible_free(struct visible_session *g)
{
	watcher->gone(g);
	LIST_REMOVE(g, by_session);
	TAILQ_REMOVE(&g->owner->visible, g, by_owner);
	owner_unref(g->owner);
	free(g);
}

static void
forget(struct rsession *s)
{
	struct conn_list orphans = TAILQ_HEAD_INITIALIZER(orphans);
	struct visible_session *g;
	struct conn *c;

	TAILQ_CONCAT(&orphans, &s->watchers, watch);
	LIST_REMOVE(s, hash);
	while ((g = LIST_FIRST(&s->visible)) != NULL)
		visible_free(g);
	ring_close(&s->ring);
	text_free(&s->strings);
	text_free(&s->json);
	text_free(&s->names);
	free(s);
	TAILQ_FOREACH(c, &orphans, watch)
		c->watched = NULL;
	while ((c = TAILQ_FIRST(&orphans)) != NULL) {
		TAILQ_REMOVE(&orphans, c, watch);
		conn_run(c);
	}
}

void
replica_clear(void)
{
	size_t i;

	for (i = 0; i < HASH; i++)
		while (!LIST_EMPTY(&table[i]))
			forget(LIST_FIRST(&table[i]));
}

static struct rsession *
add(const struct sid *sid)
{
	struct rsession *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->sid = *sid;
	(void)id_text(sid, s->id);
	s->seq = ++last_seq;
	s->ring = (struct ring)RING_INIT;
	s->strings.max = s->json.max = s->names.max = JSON_MAX;
	TAILQ_INIT(&s->watchers);
	LIST_INIT(&s->visible);
	LIST_INSERT_HEAD(&table[slot(sid)], s, hash);
	return s;
}

/* Keeps the owner's list in the order in which the sessions came. */
static void
visible_add(struct owner *o, struct rsession *s, uint32_t access, bool named)
{
	struct visible_session *g = calloc(1, sizeof(*g)), *before;

	if (g == NULL) {
		ask_afresh("a session's viewer");
		owner_unref(o);
		return;
	}
	g->owner = o;
	g->session = s;
	g->access = access;
	g->named = named;
	watcher->seen(g);
	LIST_INSERT_HEAD(&s->visible, g, by_session);
	TAILQ_FOREACH_REVERSE(before, &o->visible, visible, by_owner)
		if (before->session->seq < s->seq)
			break;
	if (before == NULL)
		TAILQ_INSERT_HEAD(&o->visible, g, by_owner);
	else
		TAILQ_INSERT_AFTER(&o->visible, before, g, by_owner);
}

/* Keeps the view; its texts live in the message only.  False: no memory. */
static bool
keep(struct rsession *s, const struct session_view *v)
{
	const char *p;

	s->usage.known &= s->view.run == v->run;
	text_reset(&s->strings, JSON_MAX);
	text_put(&s->strings, v->args, v->args_len);
	text_put(&s->strings, v->env, v->env_len);
	text_put(&s->strings, v->cmd, v->cmd_len);
	text_put(&s->strings, v->shares, v->shares_len);
	text_put(&s->strings, v->warnings, v->warnings_len);
	s->view = *v;
	if (s->strings.bad) {
		log_warnx("no memory for a session's arguments");
		s->view.args_len = s->view.env_len = s->view.shares_len = 0;
		s->view.cmd_len = s->view.warnings_len = 0;
	}
	/* without memory there may be no text, but then it is empty */
	p = s->strings.p == NULL ? "" : s->strings.p;
	s->view.args = p;
	s->view.env = p += s->view.args_len;
	s->view.cmd = p += s->view.env_len;
	s->view.shares = p += s->view.cmd_len;
	s->view.warnings = p + s->view.shares_len;
	text_reset(&s->json, JSON_MAX);
	errno = 0;
	session_json(&s->json, s->id, &s->view, true);
	text_reset(&s->names, JSON_MAX);
	if (s->view.env_len > 0)
		session_json(&s->names, s->id, &s->view, false);
	/* half of an object would make nonsense of every list */
	if ((s->json.bad || s->names.bad) && errno == ENOMEM)
		return false;
	watcher->changed(s);
	return true;
}

int
net_on_session(struct msg *m)
{
	struct session_view v;
	struct rsession *s;

	view_get(m, &v);
	if (msg_end(m) == -1 || state_text(v.state) == NULL)
		return -1;
	s = replica_find(&m->hdr.session);
	if (s == NULL)
		s = add(&m->hdr.session);
	if (s == NULL) {
		ask_afresh("a session");
		return 0;
	}
	/* a session cannot change hands */
	if (s->json.len > 0 && s->view.owner != v.owner)
		return -1;
	if (keep(s, &v))
		wake(s);
	else {
		ask_afresh("a session");
		forget(s);
	}
	return 0;
}

int
net_on_sees(struct msg *m)
{
	struct rsession *s = replica_find(&m->hdr.session);
	uint32_t uid = msg_get_u32(m), eyes = msg_get_u32(m);
	uint32_t access = msg_get_u32(m), named = msg_get_u32(m);
	struct owner *o;
	struct visible_session *g;

	if (msg_end(m) == -1 || eyes >= EYES_COUNT || access > ACCESS_OWN ||
	    named > 1)
		return -1;
	o = s == NULL ? NULL : owner_ref(uid, eyes);
	if (o == NULL) {
		/* without memory the session was not kept either */
		if (s != NULL)
			ask_afresh("a session's viewer");
		return 0;
	}
	g = visible_find(o, s);
	if (g == NULL && access != ACCESS_NONE) {
		visible_add(o, s, access, named != 0);
		return 0;
	}
	owner_unref(o);
	if (g == NULL)
		return 0;
	g->access = access;
	g->named = named != 0;
	if (access == ACCESS_NONE) {
		turn_away(s, g->owner);
		visible_free(g);
	} else
		wake(s);
	return 0;
}

int
net_on_session_gone(struct msg *m)
{
	struct rsession *s = replica_find(&m->hdr.session);

	if (s != NULL)
		forget(s);
	return msg_end(m);
}

int
net_on_ring(struct msg *m)
{
	struct rsession *s = replica_find(&m->hdr.session);
	uint32_t run = msg_get_u32(m);
	struct ring ring;

	if (msg_end(m) == -1)
		return -1;
	if (ring_map(&ring, msg_take_fd(m)) == -1) {
		if (errno != ENOMEM)
			return -1;
		ask_afresh("a session's output");
		return 0;
	}
	if (s == NULL) {
		ring_close(&ring);
		return 0;
	}
	ring_close(&s->ring);
	s->ring = ring;
	s->ring_run = run;
	s->armed = false;
	wake(s);
	return 0;
}

int
net_on_output_notice(struct msg *m)
{
	struct rsession *s = replica_find(&m->hdr.session);

	/* how much is there the ring itself tells */
	(void)msg_get_u64(m);
	if (s != NULL) {
		s->armed = false;
		wake(s);
	}
	return msg_end(m);
}
