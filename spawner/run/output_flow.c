/* SPDX-License-Identifier: ISC */
/*
 * Flow control.  A terminal's limit is netproc's to say (FLOW): who watches
 * one and falls silent keeps nobody waiting.  Pipes are held by connections
 * (HOLD), each with the offset that its client has got: they are read no
 * further ahead of the slowest than half of the ring, so that what the pipes
 * have in them at the end finds room in the other half.
 */
#include <stdlib.h>

#include "base/log.h"
#include "exit.h"
#include "expiry.h"
#include "output.h"
#include "output_flow.h"
#include "spawner/client/client.h"
#include "spawner/session/session.h"
#include "tty.h"
#include "wire/handlers.h"

/* A netproc that limits output says so more often. */
#define SILENT_MS	2000
/* Clients whose netproc has died: it is back at once, and they soon after. */
#define RETURN_MS	10000

/* Flow control of a session's pipes by one connection. */
struct hold {
	LIST_ENTRY(hold) next;
	struct session	*session;
	struct client	*client;	/* NULL = its netproc has died */
	uint64_t	 taken;		/* the client has what is before it */
};

static LIST_HEAD(, flow) limited = LIST_HEAD_INITIALIZER(limited);

void
flow_init(struct session *s)
{
	s->flow.session = s;
	s->flow.limit = FLOW_UNLIMITED;
	LIST_INIT(&s->flow.holds);
}

bool
flow_is_held(const struct session *s)
{
	return !LIST_EMPTY(&s->flow.holds);
}

/* Offset up to which all holders have the output; FLOW_UNLIMITED: no holder. */
static uint64_t
taken(const struct session *s)
{
	uint64_t low = FLOW_UNLIMITED;
	const struct hold *h;

	LIST_FOREACH(h, &s->flow.holds, next)
		if (h->taken < low)
			low = h->taken;
	return low;
}

static uint64_t
limit_of(const struct session *s, uint64_t low)
{
	uint64_t window = s->ring.size / 2;

	if (low > FLOW_UNLIMITED - window)
		return s->flow.limit;
	return low + window < s->flow.limit ? low + window : s->flow.limit;
}

size_t
flow_allowance(struct session *s, size_t max)
{
	uint64_t total = ring_total(&s->ring), low = taken(s);
	uint64_t limit = limit_of(s, low);

	/* which stream a byte is of would be forgotten like the byte itself */
	s->flow.paused = total >= limit || (low != FLOW_UNLIMITED &&
	    ring_changes(&s->ring, low, RING_MARKS / 2));
	if (s->flow.paused)
		return 0;
	return limit - total < max ? (size_t)(limit - total) : max;
}

bool
flow_would_lose(const struct session *s, size_t rest)
{
	/* also for one that has all that was read so far */
	uint64_t end = ring_total(&s->ring) + rest, low = taken(s);

	return low < end && end - low > s->ring.size;
}

/* A client that the output waited for has moved, or gone. */
static void
changed(struct session *s)
{
	if (s->flow.paused && flow_allowance(s, 1) != 0) {
		if (s->tty != NULL)
			tty_resume(s);
		else
			output_resume(s);
	}
	/* a program may have closed its output before */
	exit_again(s);
}

/* -- terminals ------------------------------------------------------------ */

static void
set_limit(struct flow *p, uint64_t limit, uint32_t conn)
{
	if (p->limit != FLOW_UNLIMITED)
		LIST_REMOVE(p, limited);
	p->limit = limit;
	p->limited_by = conn;
	if (limit != FLOW_UNLIMITED)
		LIST_INSERT_HEAD(&limited, p, limited);
}

static void
on_silence(void *arg)
{
	struct session *s = arg;

	set_limit(&s->flow, FLOW_UNLIMITED, 0);
	changed(s);
}

int
spawn_on_flow(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint64_t limit = msg_get_u64(m);
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, NULL))
		return -1;
	/* netproc may not have heard yet that it is gone, or has ended */
	if (s == NULL || s->tty == NULL || s->out.io.fd == -1 ||
	    access_of(a.viewer, s) == ACCESS_NONE)
		return 0;
	expiry_touch(s);
	if (limit == FLOW_UNLIMITED)
		loop_timer_unset(&s->flow.timer);
	else
		loop_timer_set(&s->flow.timer, SILENT_MS, on_silence, s);
	set_limit(&s->flow, limit, a.conn);
	changed(s);
	return 0;
}

/* The connection that limited terminals has gone; conn 0 = all. */
static void
drop_limits(uint32_t conn)
{
	struct flow *p, *next;

	for (p = LIST_FIRST(&limited); p != NULL; p = next) {
		next = LIST_NEXT(p, limited);
		if (conn != 0 && p->limited_by != conn)
			continue;
		loop_timer_unset(&p->timer);
		on_silence(p->session);
	}
}

/* -- pipes ---------------------------------------------------------------- */

/* The caller calls changed(). */
static void
release(struct hold *h)
{
	LIST_REMOVE(h, next);
	if (h->client != NULL)
		h->client->hold = NULL;
	free(h);
}

static void
drop_hold(struct client *c)
{
	struct session *s;

	if (c->hold == NULL)
		return;
	s = c->hold->session;
	release(c->hold);
	changed(s);
}

/*
 * A client that comes back goes on after what it had got, so it replaces the
 * nearest lost hold that could be its own.  The holds that stay are then no
 * further than what the other clients have.
 */
static void
release_lost(struct session *s, uint64_t from)
{
	struct hold *h, *best = NULL;

	LIST_FOREACH(h, &s->flow.holds, next)
		if (h->client == NULL && h->taken <= from &&
		    (best == NULL || h->taken > best->taken))
			best = h;
	if (best != NULL)
		release(best);
}

static struct hold *
hold_new(struct session *s, struct client *c, uint64_t from)
{
	struct hold *h;

	drop_hold(c);
	h = calloc(1, sizeof(*h));
	if (h == NULL) {
		log_warnx("no memory to hold the output of session %s",
		    s->text);
		return NULL;
	}
	h->session = s;
	h->client = c;
	c->hold = h;
	LIST_INSERT_HEAD(&s->flow.holds, h, next);
	release_lost(s, from);
	return h;
}

/*
 * Whether it is about the run that goes on or is to come.  A follower that
 * waits for the first one may not have heard yet that it has begun.
 */
static bool
is_of_run(const struct session *s, uint32_t run)
{
	if (run == 0)
		return s->view.run == 0 || (s->view.run == 1 &&
		    (s->state & STATE_ALIVE));
	return run == s->view.run && (s->state & STATE_ALIVE);
}

static bool
may_hold(const struct session *s, const struct asker *a)
{
	return session_is_shown(s) && access_of(a->viewer, s) >= ACCESS_USE &&
	    (a->flags & PRINCIPAL_READ_ONLY) == 0;
}

int
spawn_on_hold(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t run = msg_get_u32(m);
	uint64_t from = msg_get_u64(m);
	struct asker a;
	struct client *c;
	struct hold *h;

	if (msg_end(m) == -1 || !asker_init(&a, m, NULL))
		return -1;
	c = client_find(a.conn);
	/* netproc may not have heard yet that it is gone, or has ended */
	if (s == NULL || !may_hold(s, &a) || !is_of_run(s, run) ||
	    s->tty != NULL)
		return 0;
	expiry_touch(s);
	if (from == FLOW_UNLIMITED) {
		if (c->hold != NULL && c->hold->session == s)
			drop_hold(c);
		return 0;
	}
	h = c->hold != NULL && c->hold->session == s ? c->hold :
	    hold_new(s, c, from);
	if (h == NULL)
		return 0;
	h->taken = from;
	output_fit(s);
	changed(s);
	return 0;
}

static void
drop_holds(struct session *s)
{
	while (flow_is_held(s))
		release(LIST_FIRST(&s->flow.holds));
}

void
flow_access_changed(struct session *s)
{
	struct hold *h, *next;

	for (h = LIST_FIRST(&s->flow.holds); h != NULL; h = next) {
		next = LIST_NEXT(h, next);
		if (h->client != NULL &&
		    access_of(h->client->viewer, s) < ACCESS_USE)
			release(h);
	}
	changed(s);
}

static void
on_no_return(void *arg)
{
	struct session *s = arg;
	struct hold *h, *next;

	for (h = LIST_FIRST(&s->flow.holds); h != NULL; h = next) {
		next = LIST_NEXT(h, next);
		if (h->client == NULL)
			release(h);
	}
	changed(s);
}

/* -- all ------------------------------------------------------------------ */

void
flow_begin(struct session *s)
{
	s->flow.paused = false;
	if (s->tty != NULL)
		drop_holds(s);
	/* its client starts it first and attaches then */
	if (s->tty != NULL && s->view.ephemeral) {
		set_limit(&s->flow, s->ring.size / 2, s->start.asker.conn);
		loop_timer_set(&s->flow.timer, SILENT_MS, on_silence, s);
	}
	output_begin(s);
}

void
flow_stop(struct session *s)
{
	loop_timer_unset(&s->flow.timer);
	set_limit(&s->flow, FLOW_UNLIMITED, 0);
	drop_holds(s);
	s->flow.paused = false;
}

void
flow_drop_client(struct client *c)
{
	drop_limits(c->number);
	drop_hold(c);
}

void
flow_netproc_lost(void)
{
	struct session *s;
	struct hold *h;

	drop_limits(0);
	SESSION_FOREACH(s) {
		LIST_FOREACH(h, &s->flow.holds, next) {
			if (h->client != NULL)
				h->client->hold = NULL;
			h->client = NULL;
		}
		if (flow_is_held(s))
			loop_timer_set(&s->flow.timer, RETURN_MS,
			    on_no_return, s);
	}
}
