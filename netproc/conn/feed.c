/* SPDX-License-Identifier: ISC */
/*
 * Events of changes.  Changes are numbered, and each owner has its visible
 * sessions in a list in the order of their last change.  A stream is a cursor
 * and holds nothing: its news is at the end of that list, and a session that
 * changes faster than its client reads is sent as it is then.  Only sessions
 * that have gone have a list by themselves, which is bounded; each listening
 * owner has its own, so that others' sessions push nothing out of it.
 */
#include <sys/random.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/log.h"
#include "conn.h"
#include "feed.h"
#include "replica.h"
#include "usage.h"

/* Changes within so short a time are told together. */
#define GATHER_MS	20
#define GONE_MAX	1024

struct gone {
	uint64_t	 change;
	char		 id[ID_TEXT];
};

struct feed {
	LIST_ENTRY(feed)	 by_owner;
	struct conn		*conn;
	uint64_t		 cursor;	/* the last change that was sent */
	/* The session of that change, unless it has changed again or gone. */
	const struct visible_session	*at;
	uint64_t		 floor;		/* what went before is nothing new */
	uint64_t		 gone_at;	/* the next that was not looked at */
	bool			 reset;
};

static struct feed **
feed_state(struct conn *c)
{
	return conn_state(c, struct feed *);
}

static LIST_HEAD(, owner) with_news = LIST_HEAD_INITIALIZER(with_news);
static struct loop_timer timer;
static uint64_t		 epoch, last;
static struct usage_watcher usage;
static size_t		 nfeeds;

/* -- what happens --------------------------------------------------------- */

static void
tell(struct owner *o)
{
	struct feed *f, *next;

	for (f = LIST_FIRST(&o->feeds); f != NULL; f = next) {
		next = LIST_NEXT(f, by_owner);
		conn_run(f->conn);
	}
}

static void
on_timer(void *arg)
{
	struct owner *o;

	(void)arg;
	while ((o = LIST_FIRST(&with_news)) != NULL) {
		LIST_REMOVE(o, news);
		o->has_news = false;
		tell(o);
		owner_unref(o);
	}
}

static void
note(struct owner *o)
{
	if (o->has_news || LIST_EMPTY(&o->feeds))
		return;
	o->has_news = true;
	o->refs++;
	LIST_INSERT_HEAD(&with_news, o, news);
	if (timer.slot == 0)
		loop_timer_set(&timer, GATHER_MS, on_timer, NULL);
}

static void
on_seen(struct visible_session *g)
{
	g->change = ++last;
	TAILQ_INSERT_TAIL(&g->owner->changed, g, by_change);
	note(g->owner);
}

static void
on_changed(struct rsession *s)
{
	struct visible_session *g;

	last++;
	LIST_FOREACH(g, &s->visible, by_session) {
		TAILQ_REMOVE(&g->owner->changed, g, by_change);
		TAILQ_INSERT_TAIL(&g->owner->changed, g, by_change);
		g->change = last;
		note(g->owner);
	}
}

/* Before an owner's first stream nobody could miss it. */
static void
keep_gone(struct owner *o, const char id[ID_TEXT])
{
	struct gone *g;

	last++;
	if (o->gone == NULL)
		return;
	g = &o->gone[o->ngone++ % GONE_MAX];
	if (g->change != 0)
		o->lost = g->change;
	g->change = last;
	memcpy(g->id, id, sizeof(g->id));
}

static void
on_gone(struct visible_session *s)
{
	struct feed *f;

	keep_gone(s->owner, s->session->id);
	TAILQ_REMOVE(&s->owner->changed, s, by_change);
	LIST_FOREACH(f, &s->owner->feeds, by_owner)
		if (f->at == s)
			f->at = NULL;
	note(s->owner);
}

void
feed_init(void)
{
	static const struct replica_watcher watcher = {
		.seen = on_seen,
		.changed = on_changed,
		.gone = on_gone,
	};

	/* another netproc's numbers must not be taken for ours */
	if (getrandom(&epoch, sizeof(epoch), 0) != sizeof(epoch))
		fatal("getrandom");
	replica_watch(&watcher);
}

/* -- what comes next ------------------------------------------------------ */

/* Searches from the end: few sessions changed since the cursor. */
static const struct visible_session *
next_visible(const struct feed *f)
{
	const struct owner *o = f->conn->owner;
	const struct visible_session *g, *found = NULL;

	g = TAILQ_FIRST(&o->changed);
	if (g == NULL || g->change > f->cursor)
		return g;
	if (f->at != NULL && f->at->change == f->cursor)
		return TAILQ_NEXT(f->at, by_change);
	for (g = TAILQ_LAST(&o->changed, visible); g != NULL &&
	    g->change > f->cursor; g = TAILQ_PREV(g, visible, by_change))
		found = g;
	return found;
}

static bool
is_news(const struct feed *f, uint64_t gone)
{
	return gone > f->cursor && gone > f->floor;
}

static const struct gone *
next_gone(struct feed *f)
{
	const struct owner *o = f->conn->owner;
	const struct gone *g;

	/* the client has been told of entries that the ring has lost */
	if (o->ngone > GONE_MAX && f->gone_at < o->ngone - GONE_MAX)
		f->gone_at = o->ngone - GONE_MAX;
	for (; f->gone_at < o->ngone; f->gone_at++) {
		g = &o->gone[f->gone_at % GONE_MAX];
		if (is_news(f, g->change))
			return g;
	}
	return NULL;
}

static void
put_head(struct conn *c, const char *event, uint64_t change)
{
	char head[96];
	int n = snprintf(head, sizeof(head), "event: %s\nid: %" PRIx64
	    "-%" PRIu64 "\ndata: ", event, epoch, change);

	conn_write(c, head, (size_t)n);
}

static void
put_gone(struct conn *c, const struct gone *g)
{
	char data[64];
	int n = snprintf(data, sizeof(data), "{\"id\":\"%s\"}\n\n", g->id);

	put_head(c, "gone", g->change);
	conn_write(c, data, (size_t)n);
}

/* Without a number: nobody has to be told of what was used meanwhile. */
static void
put_usage(struct conn *c, const struct rsession *s)
{
	static const char head[] = "event: usage\ndata: ";
	static struct text t = { .max = 512 };

	text_reset(&t, 512);
	json_open(&t, '{');
	json_key(&t, "id");
	json_text(&t, s->id);
	usage_json(&t, s);
	json_close(&t, '}');
	text_puts(&t, "\n\n");
	conn_write(c, head, sizeof(head) - 1);
	conn_write(c, t.p, t.len);
}

/* Starts over: all present sessions are news, those gone before are not. */
static void
begin_anew(struct feed *f)
{
	f->reset = true;
	f->cursor = 0;
	f->at = NULL;
	f->floor = last;
	f->gone_at = f->conn->owner->ngone;
}

static bool
feed_step(struct conn *c)
{
	struct feed *f = *feed_state(c);
	const struct visible_session *s;
	const struct text *t;
	const struct gone *g;

	/* who has not read, or was away, for so long cannot be told of it */
	if (is_news(f, c->owner->lost))
		begin_anew(f);
	if (f->reset) {
		f->reset = false;
		put_head(c, "reset", 0);
		conn_write(c, "{}\n\n", 4);
		return true;
	}
	s = next_visible(f);
	g = next_gone(f);
	if (s == NULL && g == NULL)
		return false;
	if (g != NULL && (s == NULL || g->change < s->change)) {
		f->cursor = g->change;
		put_gone(c, g);
		return true;
	}
	f->cursor = s->change;
	f->at = s;
	put_head(c, "session", f->cursor);
	t = replica_json(c, s->session);
	conn_write(c, t->p, t->len);
	conn_write(c, "\n\n", 2);
	/* only changes are told later, and of what rests there are none */
	if (s->session->usage.known && (s->session->view.state & STATE_ALIVE))
		put_usage(c, s->session);
	return true;
}

/* Its streams, where they read; each may end by that. */
static void
tell_usage(struct owner *o, const struct rsession *s)
{
	struct feed *f, *next;

	for (f = LIST_FIRST(&o->feeds); f != NULL; f = next) {
		next = LIST_NEXT(f, by_owner);
		if (conn_unsent(f->conn) > 0)
			continue;
		put_usage(f->conn, s);
		conn_run(f->conn);
	}
}

static void
on_usage(struct rsession *s, void *arg)
{
	struct visible_session *g;

	(void)arg;
	LIST_FOREACH(g, &s->visible, by_session)
		tell_usage(g->owner, s);
}

static void
feed_leave(struct conn *c)
{
	struct feed *f = *feed_state(c);

	if (f == NULL)
		return;
	LIST_REMOVE(f, by_owner);
	free(f);
	if (--nfeeds == 0)
		usage_end(&usage);
}

static const struct conn_mode mode_feed = {
	.name = "events",
	.clock = CLOCK_NONE,
	.step = feed_step,
	.leave = feed_leave,
};

/* "1f2e3d-42"; false when that is not one of ours. */
static bool
resume(const struct word *w, uint64_t *change)
{
	char text[48], *end;
	uint64_t e;

	if (w->len >= sizeof(text))
		return false;
	memcpy(text, w->p, w->len);
	text[w->len] = '\0';
	e = strtoull(text, &end, 16);
	if (end == text || *end != '-' || e != epoch)
		return false;
	*change = strtoull(end + 1, &end, 10);
	return *end == '\0' && *change <= last && *change > 0;
}

/* In memory for as long as the owner is, which is not long without clients. */
static struct feed *
feed_alloc(struct owner *o)
{
	if (o->gone == NULL) {
		o->gone = calloc(GONE_MAX, sizeof(*o->gone));
		/* a client that comes back has missed what was not kept */
		o->lost = ++last;
	}
	return o->gone == NULL ? NULL : calloc(1, sizeof(struct feed));
}

void
cmd_feed(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct feed *f = feed_alloc(c->owner);

	(void)s;
	if (f == NULL) {
		answer_error(c, ERR_INTERNAL, "out of memory");
		return;
	}
	conn_enter(c, &mode_feed);
	*feed_state(c) = f;
	f->conn = c;
	if (ws->n >= 2 && resume(&ws->w[1], &f->cursor))
		f->floor = f->cursor;
	else
		begin_anew(f);
	LIST_INSERT_HEAD(&c->owner->feeds, f, by_owner);
	usage.fn = on_usage;
	if (nfeeds++ == 0)
		usage_begin(&usage);
}
