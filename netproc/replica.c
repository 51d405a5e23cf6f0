/* SPDX-License-Identifier: ISC */
/* The copy of the sessions: kept by messages, asked by commands. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "log.h"
#include "replica.h"

#define HASH		256
#define JSON_MAX	((size_t)1 << 20)

static LIST_HEAD(, rsession) table[HASH];
static LIST_HEAD(, owner) owners;
static uint64_t		 last_seq;

struct owner *
owner_get(uint32_t uid)
{
	struct owner *o;

	LIST_FOREACH(o, &owners, all)
		if (o->uid == uid) {
			o->refs++;
			return o;
		}
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return NULL;
	o->uid = uid;
	o->refs = 1;
	TAILQ_INIT(&o->sessions);
	LIST_INSERT_HEAD(&owners, o, all);
	return o;
}

void
owner_put(struct owner *o)
{
	if (--o->refs > 0)
		return;
	LIST_REMOVE(o, all);
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

struct rsession *
replica_resolve(const struct owner *o, const struct word *w, uint32_t *err)
{
	struct rsession *s, *found = NULL;
	struct sid sid;

	*err = ERR_NOT_FOUND;
	if (parse_id(w, &sid)) {
		s = replica_find(&sid);
		if (s != NULL && s->owner == o)
			return s;
	}
	TAILQ_FOREACH(s, &o->sessions, by_owner)
		if (s->view.name[0] != '\0' && word_is(w, s->view.name))
			return s;
	TAILQ_FOREACH(s, &o->sessions, by_owner) {
		if (!is_prefix(w, s->id))
			continue;
		if (found != NULL) {
			*err = ERR_AMBIGUOUS_ID;
			return NULL;
		}
		found = s;
	}
	return found;
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

/* Those who wait for this session look again; any of them may go away. */
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

static void
forget(struct rsession *s)
{
	struct conn_list orphans = TAILQ_HEAD_INITIALIZER(orphans);
	struct conn *c;

	TAILQ_CONCAT(&orphans, &s->watchers, watch);
	LIST_REMOVE(s, hash);
	TAILQ_REMOVE(&s->owner->sessions, s, by_owner);
	owner_put(s->owner);
	ring_close(&s->ring);
	text_free(&s->strings);
	text_free(&s->json);
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
add(const struct sid *sid, uint32_t uid)
{
	struct rsession *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->owner = owner_get(uid);
	if (s->owner == NULL) {
		free(s);
		return NULL;
	}
	s->sid = *sid;
	(void)id_text(sid, s->id);
	s->seq = ++last_seq;
	s->ring = (struct ring)RING_INIT;
	s->strings.max = s->json.max = JSON_MAX;
	TAILQ_INIT(&s->watchers);
	LIST_INSERT_HEAD(&table[slot(sid)], s, hash);
	TAILQ_INSERT_TAIL(&s->owner->sessions, s, by_owner);
	return s;
}

/* Keeps the view; args and env live in the message only. */
static void
keep(struct rsession *s, const struct session_view *v)
{
	text_reset(&s->strings, JSON_MAX);
	text_put(&s->strings, v->args, v->args_len);
	text_put(&s->strings, v->env, v->env_len);
	s->view = *v;
	if (s->strings.bad) {
		log_warnx("no memory for a session's arguments");
		s->view.args_len = s->view.env_len = 0;
	}
	s->view.args = s->strings.p;
	s->view.env = s->strings.p == NULL ? NULL :
	    s->strings.p + s->view.args_len;
	text_reset(&s->json, JSON_MAX);
	session_json(&s->json, s->id, &s->view);
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
		s = add(&m->hdr.session, v.owner);
	if (s == NULL) {
		log_warnx("no memory for a session");
		return 0;
	}
	/* a session cannot change hands */
	if (s->owner->uid != v.owner)
		return -1;
	keep(s, &v);
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

	if (msg_end(m) == -1 || ring_map(&ring, msg_take_fd(m)) == -1)
		return -1;
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
net_on_doorbell(struct msg *m)
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
