/* SPDX-License-Identifier: ISC */
/*
 * What clients ask debuggers, and the answers: forwarded unread, counted, and
 * given to nobody but who asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "client.h"
#include "command.h"
#include "dbg.h"
#include "dbgaudit.h"
#include "debug.h"
#include "handlers.h"
#include "log.h"
#include "peers.h"
#include "push.h"
#include "role.h"
#include "start.h"
#include "ttl.h"
#include "upload.h"
#include "vars.h"

/* Of netproc's queue: more, and no debugger is listened to for a while. */
#define NETPROC_BACKLOG	((size_t)1 << 20)
#define PACE_MS		10
#define STARTS_OF_ONE	4
/* Bytes of requests for one that is being started. */
#define WAITING_MAX	((size_t)256 * 1024)

/* A start whose owner's account is looked for. */
struct starting {
	LIST_ENTRY(starting) next;
	struct asker	 asker;
	uint64_t	 serial;
	struct sid	 target;
	bool		 has_target;
	uint32_t	 sandbox, network;
	char		 label[LABEL_MAX + 1];
	char		*json;
	size_t		 json_len;
};

static LIST_HEAD(, starting) startings = LIST_HEAD_INITIALIZER(startings);

/* -- requests under way --------------------------------------------------- */

static void
asked_free(struct dbgproc *p, struct dbg_asked *q)
{
	TAILQ_REMOVE(&p->asked, q, next);
	p->nasked--;
	free(q->json);
	free(q);
}

static unsigned int
count_conn(const struct dbgproc *p, uint32_t conn)
{
	const struct dbg_asked *q;
	unsigned int n = 0;

	TAILQ_FOREACH(q, &p->asked, next)
		n += q->asker.conn == conn;
	return n;
}

/*
 * Who is this user on this host, with all that he may do there.  A token, a
 * cookie and a rule give what sessions may do, and no more.
 */
static bool
is_at_home(const struct asker *a)
{
	return role_mode == MODE_USER && settings.control == 0 &&
	    (a->flags & (PRINCIPAL_BY_TOKEN | PRINCIPAL_BY_RULE |
	    PRINCIPAL_BY_KEY | PRINCIPAL_GUEST | PRINCIPAL_READ_ONLY)) == 0;
}

bool
dbg_is_too_far(const struct dbgproc *p, const struct asker *a)
{
	return p->host && !p->inside && !is_at_home(a) &&
	    !(settings.allow_sandbox & 1U << SANDBOX_NONE);
}

static void
send_request(struct dbgproc *p, struct dbg_asked *q, const char *json,
    size_t len)
{
	struct session *s = p->session;
	enum access access = access_of(q->asker.viewer, s);
	struct msg_out *o = msg_new(MSG_DBG_REQUEST, &s->id, q->asker.conn,
	    q->id);

	if ((q->asker.flags & PRINCIPAL_READ_ONLY ||
	    dbg_is_too_far(p, &q->asker)) && access > ACCESS_SEE)
		access = ACCESS_SEE;
	msg_put_u32(o, access);
	msg_put_u32(o, q->asker.owner->uid);
	msg_put_bytes(o, json, len);
	(void)chan_send(&p->chan, o, -1);
}

/*
 * Bytes that it has not read yet count as well: neither it nor who asks it
 * may fill the spawner's memory.  Those who only look leave half the places.
 */
static bool
has_room_for(const struct dbgproc *p, const struct asker *a)
{
	bool looks = (a->flags & PRINCIPAL_READ_ONLY) != 0 ||
	    access_of(a->viewer, p->session) < ACCESS_USE;
	const struct dbg_asked *q;
	size_t waiting = 0;

	TAILQ_FOREACH(q, &p->asked, next)
		waiting += q->json_len;
	return p->nasked < (looks ? DBG_ASKS / 2 : DBG_ASKS) &&
	    count_conn(p, a->conn) < DBG_ASKS_OF_ONE &&
	    waiting <= WAITING_MAX && !dbg_is_deaf(p);
}

void
dbg_ask(struct dbgproc *p, struct asker *a, const char *json, size_t len)
{
	struct dbg_asked *q = NULL;

	if (!has_room_for(p, a)) {
		answer(a, &p->session->id, ERR_BUSY, "as many requests as "
		    "there may be are under way in this debugger");
		return;
	}
	q = calloc(1, sizeof(*q));
	if (q == NULL)
		goto fail;
	if (p->life == DBG_ORDERED) {
		q->json = malloc(len);
		if (q->json == NULL)
			goto fail;
		memcpy(q->json, json, len);
		q->json_len = len;
	}
	q->asker = *a;
	(void)snprintf(q->user, sizeof(q->user), "%s", a->owner->name);
	q->id = ++p->last_id;
	TAILQ_INSERT_TAIL(&p->asked, q, next);
	p->nasked++;
	p->used = loop_now_ms();
	if (p->life == DBG_UP)
		send_request(p, q, json, len);
	return;
fail:
	free(q);
	answer(a, &p->session->id, ERR_INTERNAL, "out of memory");
}

void
dbg_asks_begin(struct dbgproc *p)
{
	struct dbg_asked *q;

	TAILQ_FOREACH(q, &p->asked, next) {
		if (q->json == NULL)
			continue;
		send_request(p, q, q->json, q->json_len);
		free(q->json);
		q->json = NULL;
		q->json_len = 0;
	}
}

void
dbg_asks_fail(struct dbgproc *p, enum err err, const char *why)
{
	struct dbg_asked *q;

	while ((q = TAILQ_FIRST(&p->asked)) != NULL) {
		if (q->asker.owner == NULL)
			dbgaudit_left(p, q);
		answer(&q->asker, &p->session->id, err, why == NULL ? NULL :
		    "%s", why);
		asked_free(p, q);
	}
}

/* -- answers -------------------------------------------------------------- */

static void
on_pace(void *arg)
{
	struct dbgproc *p = arg;

	p->late = chan_backlog(&netproc_chan) > NETPROC_BACKLOG / 2;
	dbg_listen(p);
	if (p->late)
		loop_timer_set(&p->pace, PACE_MS, on_pace, p);
}

static struct dbg_asked *
find_asked(struct dbgproc *p, const struct msg *m)
{
	struct dbg_asked *q;

	TAILQ_FOREACH(q, &p->asked, next)
		if (q->id == m->hdr.request && q->asker.conn == m->hdr.conn)
			return q;
	return NULL;
}

static void
pass_on(struct dbgproc *p, struct dbg_asked *q, uint32_t flags,
    const void *json, size_t len)
{
	struct msg_out *o;

	if (q->asker.owner == NULL)
		return;
	/* he may have lost the right to see it while he waited */
	if (access_of(q->asker.viewer, p->session) < ACCESS_SEE) {
		answer(&q->asker, &p->session->id, ERR_NOT_FOUND, NULL);
		return;
	}
	o = answer_new(&q->asker, MSG_DBG_ANSWER, &p->session->id);
	msg_put_u32(o, flags);
	msg_put_bytes(o, json, len);
	(void)answer_with(&q->asker, o, -1);
}

/*
 * Who is told that it has ended may start the next one at once, under the
 * same name: the answer waits until this one has gone.
 */
static void
keep_last(struct dbgproc *p, struct dbg_asked *q, uint32_t flags,
    const void *json, size_t len)
{
	struct dbg_last *l = &p->last;

	if (l->json == NULL && q->asker.owner != NULL &&
	    access_of(q->asker.viewer, p->session) >= ACCESS_SEE &&
	    (l->json = malloc(len + 1)) != NULL) {
		memcpy(l->json, json, len);
		l->len = len;
		l->flags = flags;
		l->asker = q->asker;
	} else
		pass_on(p, q, flags, json, len);
}

void
dbg_last_send(struct dbg_last *l, const struct sid *id)
{
	struct msg_out *o;

	if (l->json == NULL)
		return;
	o = answer_new(&l->asker, MSG_DBG_ANSWER, id);
	msg_put_u32(o, l->flags);
	msg_put_bytes(o, l->json, l->len);
	(void)answer_with(&l->asker, o, -1);
	free(l->json);
	l->json = NULL;
}

int
spawn_on_dbg_reply(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);
	struct dbg_asked *q;
	uint32_t flags = msg_get_u32(m);
	bool last = (flags & DBG_LAST) != 0;
	const void *json;
	size_t len;

	json = msg_get_rest(m, &len);
	flags &= ~(uint32_t)DBG_LAST;
	if (msg_end(m) == -1 || flags & ~(uint32_t)(DBG_MORE | DBG_FAILED) ||
	    (last && flags & DBG_MORE) ||
	    p->session == NULL || m->hdr.request == 0 ||
	    m->hdr.request > p->last_id)
		return -1;
	if (last)
		dbg_leave(p);
	q = find_asked(p, m);
	/* who asked has gone, which it may not have heard */
	if (q == NULL)
		return 0;
	q->bytes += len;
	if (q->bytes > DBG_ANSWER_MAX || (len == 0 && flags & DBG_MORE))
		return -1;
	/* who has been answered sees no older state than that */
	if (!(flags & DBG_MORE))
		dbg_show_late(p);
	p->used = loop_now_ms();
	p->began |= !(flags & DBG_FAILED);
	/* a start that came to nothing leaves nothing */
	if (!p->began && !(flags & DBG_MORE))
		dbg_leave(p);
	if (p->leaving && !(flags & DBG_MORE))
		keep_last(p, q, flags, json, len);
	else
		pass_on(p, q, flags, json, len);
	if (!(flags & DBG_MORE)) {
		dbgaudit_done(p, q, (flags & DBG_FAILED) != 0);
		asked_free(p, q);
	}
	if (p->pace.slot == 0 &&
	    chan_backlog(&netproc_chan) > NETPROC_BACKLOG)
		on_pace(p);
	return 0;
}

static void
drop_asks(struct dbgproc *p, uint32_t conn)
{
	struct dbg_asked *q, *next;
	uint32_t told = 0;

	for (q = TAILQ_FIRST(&p->asked); q != NULL; q = next) {
		next = TAILQ_NEXT(q, next);
		if (conn != 0 && q->asker.conn != conn)
			continue;
		if (p->life == DBG_UP && told != q->asker.conn)
			(void)chan_send(&p->chan, msg_new(MSG_DBG_GONE,
			    &p->session->id, q->asker.conn, 0), -1);
		told = q->asker.conn;
		/* the request that makes the debugger is sent all the same */
		if (q->json != NULL)
			continue;
		/* else what it does comes to light with its end, or DBG_LEFT */
		q->asker.owner = NULL;
		if (p->life != DBG_UP)
			asked_free(p, q);
	}
}

int
spawn_on_dbg_does(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);
	struct dbg_asked *q = find_asked(p, m);
	uint32_t deed = msg_get_u32(m);

	if (msg_end(m) == -1 || deed == DBG_DEED_NONE ||
	    deed >= DBG_DEED_COUNT || p->session == NULL)
		return -1;
	/* the first word counts */
	if (q == NULL || q->deed != DBG_DEED_NONE)
		return 0;
	q->deed = (enum dbg_deed)deed;
	q->asker.command = dbg_deed_action(q->deed);
	return 0;
}

int
spawn_on_dbg_left(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);
	struct dbg_asked *q, *next;

	if (msg_end(m) == -1 || p->session == NULL)
		return -1;
	for (q = TAILQ_FIRST(&p->asked); q != NULL; q = next) {
		next = TAILQ_NEXT(q, next);
		if (q->asker.owner != NULL || q->asker.conn != m->hdr.conn)
			continue;
		dbgaudit_left(p, q);
		asked_free(p, q);
	}
	return 0;
}

void
dbg_drop_conn(uint32_t conn)
{
	struct dbgproc *p;

	dbg_drop_starts(conn);
	LIST_FOREACH(p, &dbgprocs, next) {
		if (p->session != NULL)
			drop_asks(p, conn);
		if (conn == 0 || p->last.asker.conn == conn) {
			free(p->last.json);
			p->last.json = NULL;
		}
	}
}

/* -- which ---------------------------------------------------------------- */

void
dbg_use(struct dbgproc *p)
{
	static uint64_t times;
	struct dbgproc *other;

	p->current = ++times;
	LIST_FOREACH(other, &dbgprocs, next)
		if (other->session != NULL &&
		    other->session->owner == p->session->owner &&
		    other->session->view.debugger_current != (other == p)) {
			other->session->view.debugger_current = other == p;
			dbg_show(other->session);
		}
}

/* The one that was made or used last, of his own. */
static struct session *
current_of(const struct asker *a)
{
	struct dbgproc *p, *best = NULL;

	LIST_FOREACH(p, &dbgprocs, next)
		if (p->session != NULL && p->session->owner == a->owner &&
		    (best == NULL || p->current > best->current))
			best = p;
	return best == NULL ? NULL : best->session;
}

/* NULL, and it is answered, when there is none that he may see. */
static struct session *
session_for(struct asker *a, const struct sid *id)
{
	static const struct sid none;
	struct session *s;

	if (memcmp(id, &none, sizeof(none)) != 0) {
		s = session_find(id);
		if (s == NULL || access_of(a->viewer, s) < ACCESS_SEE ||
		    !session_is_shown(s)) {
			answer(a, id, ERR_NOT_FOUND, NULL);
			return NULL;
		}
		return s;
	}
	s = current_of(a);
	if (s == NULL)
		answer(a, NULL, ERR_NO_DEBUGGER, NULL);
	return s;
}

int
spawn_on_dbg_ask(struct msg *m)
{
	uint32_t use = msg_get_u32(m);
	struct session *s;
	struct asker a;
	const char *json;
	size_t len;

	json = msg_get_rest(m, &len);
	if (msg_end(m) == -1 || use > 1 || len > DBG_REQUEST_MAX ||
	    !asker_init(&a, m, NULL))
		return -1;
	s = session_for(&a, &m->hdr.session);
	if (s == NULL)
		return 0;
	if (s->dbg == NULL)
		answer(&a, &s->id, ERR_NO_DEBUGGER, "this session has no "
		    "debugger; `debugger attach` gives one to a session that "
		    "runs");
	else {
		/* which one is meant from now on is the owner's to change */
		if (use && s->owner == a.owner &&
		    !(a.flags & PRINCIPAL_READ_ONLY))
			dbg_use(s->dbg);
		dbg_ask(s->dbg, &a, json, len);
	}
	return 0;
}

/* -- making one ----------------------------------------------------------- */

static void
starting_free(struct starting *st)
{
	LIST_REMOVE(st, next);
	free(st->json);
	free(st);
}

void
dbg_drop_starts(uint32_t conn)
{
	struct starting *st, *next;

	for (st = LIST_FIRST(&startings); st != NULL; st = next) {
		next = LIST_NEXT(st, next);
		if (conn == 0 || st->asker.conn == conn)
			starting_free(st);
	}
}

/* One for a program that only the debugger knows; NULL when it is answered. */
static struct session *
make_session(struct starting *st)
{
	struct session *s;
	enum err err;
	char why[200];

	if (upload_is_full(&st->asker, 0))
		return NULL;
	s = session_new(st->asker.owner);
	if (s == NULL || (s->program = strdup("debugger")) == NULL) {
		answer(&st->asker, NULL, ERR_INTERNAL, "out of memory");
		if (s != NULL)
			session_free(s);
		return NULL;
	}
	s->view.command = s->view.ephemeral = true;
	s->by_rule = (st->asker.flags & PRINCIPAL_BY_RULE) != 0;
	err = st->label[0] == '\0' ? ERR_OK :
	    vars_label(s, st->label, why, sizeof(why));
	if (err != ERR_OK) {
		answer(&st->asker, NULL, err, "%s", why);
		session_free(s);
		return NULL;
	}
	command_show(s);
	session_set_state(s, STATE_LOADED);
	ttl_begin(s);
	return s;
}

/* The session that he named; NULL when it is answered, or has one already. */
static struct session *
target_of(struct starting *st)
{
	struct session *s = session_find(&st->target);
	struct asker *a = &st->asker;
	enum access access = s == NULL ? ACCESS_NONE : access_of(a->viewer, s);

	if (access == ACCESS_NONE || !session_is_shown(s))
		answer(a, &st->target, ERR_NOT_FOUND, NULL);
	else if (access < ACCESS_USE)
		answer(a, &s->id, ERR_READ_ONLY, NULL);
	else if (s->dbg != NULL)
		dbg_ask(s->dbg, a, st->json, st->json_len);
	else if (s->debug.phase != DEBUG_NONE)
		answer(a, &s->id, ERR_ALREADY_DEBUGGING, NULL);
	else if (s->state == STATE_STARTING || s->stop.stage != STOP_NONE)
		answer(a, &s->id, ERR_BUSY, NULL);
	else
		return s;
	return NULL;
}

static void
begin(struct starting *st, const struct account *acc)
{
	struct session *s = st->has_target ? target_of(st) :
	    make_session(st);
	struct dbgproc *p;

	if (s == NULL)
		return;
	p = dbg_begin(s, acc);
	if (p == NULL) {
		answer(&st->asker, NULL, ERR_TRY_AGAIN, "no debugger could be "
		    "started; a user has at most 64 at a time");
		if (!st->has_target)
			session_free(s);
		return;
	}
	p->made = !st->has_target;
	p->host = p->made && is_at_home(&st->asker);
	p->sandbox = st->sandbox;
	p->network = st->network;
	activity_note(s->owner, &s->id, "a debugger is started by %s",
	    st->asker.owner->name);
	dbg_ask(p, &st->asker, st->json, st->json_len);
	dbg_use(p);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct starting *st;

	/* by number: its connection may have gone meanwhile */
	LIST_FOREACH(st, &startings, next)
		if (st->serial == serial)
			break;
	if (st == NULL)
		return;
	if (acc == NULL)
		answer(&st->asker, NULL, ERR_TRY_AGAIN, "the account that the "
		    "debugger would have could not be read");
	else
		begin(st, acc);
	starting_free(st);
}

static bool
has_room(const struct asker *a)
{
	struct starting *st;
	unsigned int n = 0;

	LIST_FOREACH(st, &startings, next)
		n += st->asker.conn == a->conn;
	return n < STARTS_OF_ONE;
}

static bool
refused(struct asker *a, uint32_t sandbox, uint32_t network)
{
	if (a->flags & PRINCIPAL_READ_ONLY)
		answer(a, NULL, ERR_READ_ONLY, NULL);
	else if (shutting_down || !chan_is_open(&launcher_chan))
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
	else if (!has_room(a))
		answer(a, NULL, ERR_BUSY, NULL);
	else
		return !start_allowed(a, NULL, &sandbox, &network);
	return true;
}

static void
begin_later(struct asker *a, const struct starting *asked, const char *json)
{
	struct starting *st = malloc(sizeof(*st));
	struct session *s = session_find(&asked->target);
	struct owner *o = asked->has_target && s != NULL ? s->owner : a->owner;

	if (st != NULL) {
		*st = *asked;
		st->asker = *a;
		st->serial = next_serial();
		st->json = malloc(asked->json_len);
	}
	if (st == NULL || st->json == NULL) {
		answer(a, NULL, ERR_INTERNAL, "out of memory");
		free(st);
		return;
	}
	memcpy(st->json, json, asked->json_len);
	LIST_INSERT_HEAD(&startings, st, next);
	if (account_want(o, on_account, st->serial) == -1) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		starting_free(st);
	}
}

int
spawn_on_dbg_start(struct msg *m)
{
	static const struct sid none;
	struct starting st = { .sandbox = msg_get_u32(m) };
	const char *json;
	struct asker a;

	st.network = msg_get_u32(m);
	msg_get_str(m, st.label, sizeof(st.label));
	json = msg_get_rest(m, &st.json_len);
	st.target = m->hdr.session;
	st.has_target = memcmp(&st.target, &none, sizeof(none)) != 0;
	if (msg_end(m) == -1 || st.sandbox > SANDBOX_DEFAULT ||
	    st.network > NETWORK_DEFAULT || st.json_len < 2 ||
	    st.json_len > DBG_REQUEST_MAX ||
	    !asker_init(&a, m, "DEBUGGER start"))
		return -1;
	if (!refused(&a, st.sandbox, st.network))
		begin_later(&a, &st, json);
	return 0;
}
