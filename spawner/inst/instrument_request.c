/* SPDX-License-Identifier: ISC */
/*
 * Requests of clients to instruments, and the answers: forwarded unread,
 * counted, and given only to the client that asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument.h"
#include "spawner/client/client.h"
#include "spawner/link/peers.h"
#include "wire/handlers.h"

/* Bytes in netproc's queue above which no instrument is read for a while. */
#define NETPROC_BACKLOG	((size_t)1 << 20)
#define SEND_MS		10
/* Bytes of requests for one that is being started. */
#define WAITING_MAX	((size_t)256 * 1024)

/* -- requests under way --------------------------------------------------- */

static void
asked_free(struct inst *i, struct inst_asked *q)
{
	TAILQ_REMOVE(&i->asked, q, next);
	i->nasked--;
	free(q->json);
	free(q);
}

static unsigned int
count_conn(const struct inst *i, uint32_t conn)
{
	const struct inst_asked *q;
	unsigned int n = 0;

	TAILQ_FOREACH(q, &i->asked, next)
		n += q->asker.conn == conn;
	return n;
}

static bool
is_too_far(const struct inst *i, const struct asker *a)
{
	return i->kind->is_too_far != NULL && i->kind->is_too_far(i, a);
}

static void
send_request(struct inst *i, struct inst_asked *q, const char *json,
    size_t len)
{
	struct session *s = i->session;
	enum access access = access_of(q->asker.viewer, s);
	struct msg_out *o = msg_new(MSG_INST_REQUEST, &s->id, q->asker.conn,
	    q->id);

	if ((q->asker.flags & PRINCIPAL_READ_ONLY ||
	    is_too_far(i, &q->asker)) && access > ACCESS_SEE)
		access = ACCESS_SEE;
	msg_put_u32(o, access);
	msg_put_u32(o, q->asker.owner->uid);
	msg_put_bytes(o, json, len);
	(void)chan_send(&i->chan, o, -1);
}

/*
 * Counts the bytes that the instrument has not read yet as well: neither it nor
 * its clients may fill the spawner's memory.  Read-only clients get at most
 * half the places.
 */
static bool
has_room_for(const struct inst *i, const struct asker *a)
{
	bool looks = (a->flags & PRINCIPAL_READ_ONLY) != 0 ||
	    access_of(a->viewer, i->session) < ACCESS_USE;
	const struct inst_asked *q;
	size_t waiting = 0;

	TAILQ_FOREACH(q, &i->asked, next)
		waiting += q->json_len;
	return i->nasked < (looks ? INST_ASKS / 2 : INST_ASKS) &&
	    count_conn(i, a->conn) < INST_ASKS_OF_ONE &&
	    waiting <= WAITING_MAX && !inst_is_deaf(i);
}

void
inst_ask(struct inst *i, struct asker *a, const char *json, size_t len)
{
	struct inst_asked *q = NULL;

	if (!has_room_for(i, a)) {
		answer(a, &i->session->id, ERR_BUSY, "too many requests "
		    "are under way in this %s; try again later",
		    i->kind->order.name);
		return;
	}
	q = calloc(1, sizeof(*q));
	if (q == NULL)
		goto fail;
	if (i->life == INST_ORDERED) {
		q->json = malloc(len);
		if (q->json == NULL)
			goto fail;
		memcpy(q->json, json, len);
		q->json_len = len;
	}
	q->asker = *a;
	(void)snprintf(q->user, sizeof(q->user), "%s", a->owner->name);
	q->id = ++i->last_id;
	TAILQ_INSERT_TAIL(&i->asked, q, next);
	i->nasked++;
	i->used = loop_now_ms();
	if (i->life == INST_UP)
		send_request(i, q, json, len);
	return;
fail:
	free(q);
	answer(a, &i->session->id, ERR_INTERNAL, "out of memory");
}

void
inst_asks_begin(struct inst *i)
{
	struct inst_asked *q;

	TAILQ_FOREACH(q, &i->asked, next) {
		if (q->json == NULL)
			continue;
		send_request(i, q, q->json, q->json_len);
		free(q->json);
		q->json = NULL;
		q->json_len = 0;
	}
}

void
inst_asks_fail(struct inst *i, enum err err, const char *why)
{
	struct inst_asked *q;

	while ((q = TAILQ_FIRST(&i->asked)) != NULL) {
		if (q->asker.owner == NULL)
			inst_audit_left(i, q);
		answer(&q->asker, &i->id, err, why == NULL ? NULL : "%s", why);
		asked_free(i, q);
	}
}

/* -- answers -------------------------------------------------------------- */

static void
on_send_timer(void *arg)
{
	struct inst *i = arg;

	i->late = chan_backlog(&netproc_chan) > NETPROC_BACKLOG / 2;
	inst_listen(i);
	if (i->late)
		loop_timer_set(&i->send_timer, SEND_MS, on_send_timer, i);
}

static struct inst_asked *
find_asked(struct inst *i, const struct msg *m)
{
	struct inst_asked *q;

	TAILQ_FOREACH(q, &i->asked, next)
		if (q->id == m->hdr.request && q->asker.conn == m->hdr.conn)
			return q;
	return NULL;
}

static void
pass_on(struct inst *i, struct inst_asked *q, uint32_t flags,
    const void *json, size_t len)
{
	struct msg_out *o;

	if (q->asker.owner == NULL)
		return;
	/* the asker may have lost access to the session while waiting */
	if (access_of(q->asker.viewer, i->session) < ACCESS_SEE) {
		answer(&q->asker, &i->session->id, ERR_NOT_FOUND, NULL);
		return;
	}
	o = answer_new(&q->asker, MSG_INST_ANSWER, &i->session->id);
	msg_put_u32(o, i->kind->type);
	msg_put_u32(o, flags);
	msg_put_bytes(o, json, len);
	(void)answer_with(&q->asker, o, -1);
}

/*
 * Keeps the answer until the instrument has gone: a client that is told that it
 * has ended may start the next one at once, under the same name.
 */
static void
keep_last(struct inst *i, struct inst_asked *q, uint32_t flags,
    const void *json, size_t len)
{
	struct inst_last *l = &i->last;

	if (l->json == NULL && q->asker.owner != NULL &&
	    access_of(q->asker.viewer, i->session) >= ACCESS_SEE &&
	    (l->json = malloc(len + 1)) != NULL) {
		memcpy(l->json, json, len);
		l->len = len;
		l->flags = flags;
		l->asker = q->asker;
	} else
		pass_on(i, q, flags, json, len);
}

void
inst_last_send(struct inst_last *l, const struct inst_kind *kind,
    const struct sid *id)
{
	struct msg_out *o;

	if (l->json == NULL)
		return;
	o = answer_new(&l->asker, MSG_INST_ANSWER, id);
	msg_put_u32(o, kind->type);
	msg_put_u32(o, l->flags);
	msg_put_bytes(o, l->json, l->len);
	(void)answer_with(&l->asker, o, -1);
	free(l->json);
	l->json = NULL;
}

int
spawn_on_inst_reply(struct msg *m)
{
	struct inst *i = inst_of(m);
	struct inst_asked *q;
	uint32_t flags = msg_get_u32(m);
	bool last = (flags & INST_LAST) != 0;
	const void *json;
	size_t len;

	json = msg_get_rest(m, &len);
	flags &= ~(uint32_t)INST_LAST;
	if (msg_end(m) == -1 || flags & ~(uint32_t)(INST_MORE | INST_FAILED) ||
	    (last && flags & INST_MORE) ||
	    i->session == NULL || m->hdr.request == 0 ||
	    m->hdr.request > i->last_id)
		return -1;
	if (last)
		inst_leave(i);
	q = find_asked(i, m);
	/* who asked has gone, which it may not have heard */
	if (q == NULL)
		return 0;
	q->bytes += len;
	if (q->bytes > i->kind->answer_max || (len == 0 && flags & INST_MORE))
		return -1;
	/* who has been answered sees no older state than that */
	if (!(flags & INST_MORE))
		inst_show_late(i);
	i->used = loop_now_ms();
	i->began |= !(flags & INST_FAILED);
	/*
	 * A start that came to nothing leaves nothing.  It goes on while what
	 * another client asked for is refused.
	 */
	if (!i->began && !(flags & INST_MORE) && i->nasked == 1)
		inst_leave(i);
	if (i->leaving && !(flags & INST_MORE))
		keep_last(i, q, flags, json, len);
	else
		pass_on(i, q, flags, json, len);
	if (!(flags & INST_MORE)) {
		inst_audit_done(i, q, (flags & INST_FAILED) != 0);
		asked_free(i, q);
	}
	if (i->send_timer.slot == 0 &&
	    chan_backlog(&netproc_chan) > NETPROC_BACKLOG)
		on_send_timer(i);
	return 0;
}

static void
drop_asks(struct inst *i, uint32_t conn)
{
	struct inst_asked *q, *next;
	uint32_t told = 0;

	for (q = TAILQ_FIRST(&i->asked); q != NULL; q = next) {
		next = TAILQ_NEXT(q, next);
		if (conn != 0 && q->asker.conn != conn)
			continue;
		if (i->life == INST_UP && told != q->asker.conn)
			(void)chan_send(&i->chan, msg_new(MSG_INST_GONE,
			    &i->session->id, q->asker.conn, 0), -1);
		told = q->asker.conn;
		/* the request that makes the instrument is sent all the same */
		if (q->json != NULL)
			continue;
		/* else what it does comes to light with its end, or INST_LEFT */
		q->asker.owner = NULL;
		if (i->life != INST_UP)
			asked_free(i, q);
	}
}

int
spawn_on_inst_does(struct msg *m)
{
	struct inst *i = inst_of(m);
	struct inst_asked *q = find_asked(i, m);
	uint32_t action = msg_get_u32(m);

	if (msg_end(m) == -1 || action == 0 || action >= i->kind->nactions ||
	    i->session == NULL)
		return -1;
	/* the first word counts */
	if (q == NULL || q->action != 0)
		return 0;
	q->action = action;
	q->asker.command = i->kind->action_name(action);
	return 0;
}

int
spawn_on_inst_left(struct msg *m)
{
	struct inst *i = inst_of(m);
	struct inst_asked *q, *next;

	if (msg_end(m) == -1 || i->session == NULL)
		return -1;
	for (q = TAILQ_FIRST(&i->asked); q != NULL; q = next) {
		next = TAILQ_NEXT(q, next);
		if (q->asker.owner != NULL || q->asker.conn != m->hdr.conn)
			continue;
		inst_audit_left(i, q);
		asked_free(i, q);
	}
	return 0;
}

void
inst_drop_conn(uint32_t conn)
{
	struct inst *i;

	inst_drop_starts(conn);
	LIST_FOREACH(i, &insts, next) {
		if (i->session != NULL)
			drop_asks(i, conn);
		if (conn == 0 || i->last.asker.conn == conn) {
			free(i->last.json);
			i->last.json = NULL;
		}
	}
}
