/* SPDX-License-Identifier: ISC */
/* State that the clients of one session's terminal share. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/errors.h"
#include "base/log.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/replica.h"
#include "term.h"
#include "wire/role.h"

/*
 * Input that waits for the spawner, of one client: no more is read when there
 * is so much, but what has been read is taken.
 */
#define TYPED_FULL	((size_t)32 * 1024)
#define TYPED_MAX	((size_t)256 * 1024)
/* The spawner has enough of others: so soon it is worth another try. */
#define RETRY_MS	20
/* Sizes: as often as a screen can show. */
#define RESIZE_MS	16
/* The spawner forgets a limit after two seconds. */
#define REFRESH_MS	1000
/* A new limit is worth a message when it is so much further. */
#define LIMIT_STEP	((uint64_t)64 * 1024)
/* Messages per pty-idle-ttl that tell the spawner of attached clients. */
#define USES		4
#define CLIENTS_MAX	64

struct term {
	LIST_ENTRY(term)	 all;
	struct sid		 sid;
	TAILQ_HEAD(, term_client) clients;
	size_t			 nclients;
	uint64_t		 actions;	/* counts what they do */
	uint64_t		 people;	/* counts changes of who they are */

	struct term_flow		 flow;
	size_t			 ring;		/* flow's; 0 = none */
	uint64_t		 limit;		/* the spawner was told */
	uint64_t		 limit_ms;	/* when */
	struct loop_timer	 flow_timer;

	/* the size that the terminal shall have; NULL = it has it */
	struct term_client	*sizer;
	uint32_t		 cols, rows;
	uint64_t		 sized_ms;
	struct loop_timer	 size_timer;

	struct loop_timer	 wake_timer;
	struct loop_timer	 use_timer;
};

static LIST_HEAD(, term) terms = LIST_HEAD_INITIALIZER(terms);

static void	ask_size(struct term *);
static void	send_limit(struct term *, uint64_t);

static struct term *
find(const struct sid *sid)
{
	struct term *t;

	LIST_FOREACH(t, &terms, all)
		if (memcmp(&t->sid, sid, sizeof(*sid)) == 0)
			return t;
	return NULL;
}

static struct term *
add(const struct sid *sid)
{
	struct term *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->sid = *sid;
	t->limit = FLOW_UNLIMITED;
	TAILQ_INIT(&t->clients);
	LIST_INSERT_HEAD(&terms, t, all);
	return t;
}

static void
drop(struct term *t)
{
	loop_timer_unset(&t->flow_timer);
	loop_timer_unset(&t->size_timer);
	loop_timer_unset(&t->wake_timer);
	loop_timer_unset(&t->use_timer);
	LIST_REMOVE(t, all);
	free(t);
}

size_t
term_count(const struct rsession *s)
{
	const struct term *t = find(&s->sid);

	return t == NULL ? 0 : t->nclients;
}

/*
 * A client that watches a terminal uses it, even if nothing is typed or
 * written.  The spawner ends unused sessions and does not see such a client, so
 * netproc tells it.
 */
static void
on_use(void *arg)
{
	struct term *t = arg;

	send_limit(t, t->limit);
	loop_timer_set(&t->use_timer, settings.pty_idle_ttl * 1000 / USES,
	    on_use, t);
}

/* -- who is there --------------------------------------------------------- */

static void
wake(void *arg)
{
	struct term *t = arg;
	struct term_client *cl, *next;

	for (cl = TAILQ_FIRST(&t->clients); cl != NULL; cl = next) {
		/* the last of them takes the term along */
		next = TAILQ_NEXT(cl, entry);
		conn_run(cl->conn);
	}
}

/* All look again, when nothing of them is half done. */
static void
wake_soon(struct term *t)
{
	if (t->wake_timer.slot == 0)
		loop_timer_set(&t->wake_timer, 0, wake, t);
}

static void
people_changed(struct term *t)
{
	t->people++;
	wake_soon(t);
}

bool
term_writes(const struct term_client *cl)
{
	const struct conn *c = cl->conn;

	return !cl->ask.read_only && c->watched != NULL &&
	       replica_may_use(c, c->watched);
}

static struct term_client *
controller(const struct term *t)
{
	struct term_client *cl, *best = NULL;

	TAILQ_FOREACH(cl, &t->clients, entry)
		if (term_writes(cl) &&
		    (best == NULL || cl->active > best->active))
			best = cl;
	return best;
}

bool
term_controls(const struct term_client *cl)
{
	return controller(cl->term) == cl;
}

static void
want_size(struct term *t, struct term_client *cl)
{
	if (cl == NULL || cl->cols == 0)
		return;
	t->sizer = cl;
	t->cols = cl->cols;
	t->rows = cl->rows;
	ask_size(t);
}

void
term_active(struct term_client *cl)
{
	struct term *t = cl->term;
	struct term_client *before = controller(t);

	cl->active = ++t->actions;
	if (before == cl || !term_writes(cl))
		return;
	people_changed(t);
	want_size(t, cl);
}

struct term *
term_join(struct term_client *cl, const struct rsession *s)
{
	struct term *t = find(&s->sid);

	if (t == NULL)
		t = add(&s->sid);
	if (t == NULL)
		return NULL;
	cl->term = t;
	cl->typed.max = TYPED_MAX;
	TAILQ_INSERT_TAIL(&t->clients, cl, entry);
	t->nclients++;
	people_changed(t);
	if (s->view.ephemeral && settings.pty_idle_ttl > 0 &&
	    t->use_timer.slot == 0)
		on_use(t);
	return t;
}

/* The limit may have been sent for the client that leaves: sends it again. */
static void
flow_anew(struct term *t)
{
	t->limit_ms = 0;
	wake_soon(t);
}

void
term_leave(struct term_client *cl)
{
	struct term *t = cl->term;

	loop_timer_unset(&cl->retry);
	if (cl->typed.p != NULL)
		explicit_bzero(cl->typed.p, cl->typed.len);
	text_free(&cl->typed);
	if (t == NULL)
		return;
	/* until now it was used */
	if (t->nclients == 1 && t->use_timer.slot != 0)
		send_limit(t, FLOW_UNLIMITED);
	cl->term = NULL;
	TAILQ_REMOVE(&t->clients, cl, entry);
	if (t->sizer == cl)
		t->sizer = NULL;
	if (--t->nclients == 0) {
		drop(t);
		return;
	}
	people_changed(t);
	flow_anew(t);
	want_size(t, controller(t));
}

uint64_t
term_people(const struct term_client *cl)
{
	return cl->term->people;
}

void
term_list(const struct term_client *me, struct text *list)
{
	const struct term_client *control = controller(me->term), *cl;

	json_open(list, '[');
	TAILQ_FOREACH(cl, &me->term->clients, entry) {
		json_open(list, '{');
		json_key(list, "user");
		json_text(list, cl->conn->owner->name);
		json_key(list, "role");
		json_text(list, term_writes(cl) ? "rw" : "ro");
		json_key(list, "you");
		json_raw(list, cl == me ? "true" : "false");
		json_key(list, "controller");
		json_raw(list, cl == control ? "true" : "false");
		json_close(list, '}');
	}
	json_close(list, ']');
}

/* -- sizes ---------------------------------------------------------------- */

static void
on_size(void *arg)
{
	ask_size(arg);
}

static void
send_size(struct term *t)
{
	struct term_client *cl = t->sizer;
	const struct rsession *s = replica_find(&t->sid);
	struct msg_out *o;

	t->sizer = NULL;
	if (s == NULL || (s->view.cols == t->cols && s->view.rows == t->rows))
		return;
	o = ask_new(cl->conn, MSG_RESIZE, &t->sid);
	msg_put_u32(o, t->cols);
	msg_put_u32(o, t->rows);
	t->sized_ms = loop_now_ms();
	if (chan_send(&spawner_chan, o, -1) == 0)
		cl->request = ask_last();
}

/* Not before an earlier request of its client, nor too soon after a size. */
static void
ask_size(struct term *t)
{
	uint64_t now = loop_now_ms(), due = t->sized_ms + RESIZE_MS;

	if (t->sizer == NULL || t->sizer->request != 0)
		return;
	if (t->sized_ms != 0 && now < due)
		loop_timer_set(&t->size_timer, due - now, on_size, t);
	else
		send_size(t);
}

void
term_sized(struct term_client *cl, uint32_t cols, uint32_t rows)
{
	cl->cols = cols;
	cl->rows = rows;
	if (!term_writes(cl))
		return;
	term_active(cl);
	want_size(cl->term, cl);
}

/* -- input ---------------------------------------------------------------- */

bool
term_has_room(const struct term_client *cl)
{
	return cl->typed.len < TYPED_FULL;
}

/* A piece of what was typed; a size that came before it goes first. */
static void
send_typed(struct term_client *cl)
{
	struct term *t = cl->term;
	struct msg_out *o;

	if (cl->request == 0 && t->sizer == cl && cl->typed.len > 0)
		send_size(t);
	if (cl->request != 0 || cl->typed.len == 0 || cl->retry.slot != 0)
		return;
	cl->sent = cl->typed.len < TTY_INPUT_MAX ? cl->typed.len :
	    TTY_INPUT_MAX;
	o = ask_new(cl->conn, MSG_TTY_INPUT, &t->sid);
	msg_put_bytes(o, cl->typed.p, cl->sent);
	if (chan_send(&spawner_chan, o, -1) == 0)
		cl->request = ask_last();
}

void
term_typed(struct term_client *cl, const char *p, size_t n)
{
	/* term_has_room() leaves as much as a message can be */
	text_put(&cl->typed, p, n);
	if (cl->typed.bad) {
		cl->conn->dead = true;
		return;
	}
	send_typed(cl);
}

static void
on_retry(void *arg)
{
	send_typed(arg);
}

/* The first bytes have been typed, or can never be. */
static void
forget_sent(struct term_client *cl)
{
	size_t left = cl->typed.len - cl->sent;

	memmove(cl->typed.p, cl->typed.p + cl->sent, left);
	explicit_bzero(cl->typed.p + left, cl->sent);
	cl->typed.len = left;
	cl->sent = 0;
	if (left == 0)
		text_reset(&cl->typed, 0);
}

void
term_result(struct term_client *cl, uint32_t err, const char *message)
{
	(void)message;
	cl->request = 0;
	if (err == ERR_BUSY) {
		cl->sent = 0;
		loop_timer_set(&cl->retry, RETRY_MS, on_retry, cl);
	} else if (cl->sent > 0)
		forget_sent(cl);
	send_typed(cl);
	ask_size(cl->term);
}

/* -- flow control --------------------------------------------------------- */

static uint64_t
now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void
on_flow(void *arg)
{
	wake(arg);
}

static void
send_limit(struct term *t, uint64_t limit)
{
	struct msg_out *o = msg_new(MSG_FLOW, &t->sid,
	    TAILQ_FIRST(&t->clients)->conn->number, 0);

	msg_put_u64(o, limit);
	(void)chan_send(&spawner_chan, o, -1);
	t->limit = limit;
	t->limit_ms = loop_now_ms();
}

/* Whether the spawner has to know this limit. */
static bool
is_news(const struct term *t, uint64_t limit, uint64_t total)
{
	if (limit == t->limit)
		return limit != FLOW_UNLIMITED &&
		    loop_now_ms() - t->limit_ms >= REFRESH_MS;
	return limit < t->limit || limit == FLOW_UNLIMITED ||
	    limit - t->limit >= LIMIT_STEP || t->limit - total < LIMIT_STEP ||
	    total >= t->limit || loop_now_ms() - t->limit_ms >= REFRESH_MS;
}

void
term_pace(struct term *t, uint64_t total, size_t ring)
{
	struct flow_client *all[CLIENTS_MAX];
	uint64_t now = now_us(), again, limit, ms;
	struct term_client *cl;
	size_t n = 0;

	if (t->ring != ring) {
		term_flow_init(&t->flow, ring);
		t->ring = ring;
	}
	TAILQ_FOREACH(cl, &t->clients, entry)
		if (cl->phase != TERM_WAITING && n < CLIENTS_MAX)
			all[n++] = &cl->flow;
	limit = term_flow_look(&t->flow, all, n, total, now, &again);
	if (is_news(t, limit, total))
		send_limit(t, limit);
	/* somebody is behind: the spawner must not take that for silence */
	if (again == 0)
		return;
	ms = again > now ? (again - now) / 1000 + 1 : 1;
	loop_timer_set(&t->flow_timer, ms < REFRESH_MS ? ms : REFRESH_MS,
	    on_flow, t);
}
