/* SPDX-License-Identifier: ISC */
/* Requests to the spawner, and what becomes of them when it goes away. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "ask.h"
#include "base/log.h"
#include "identity.h"
#include "replica.h"
#include "usage.h"
#include "wire/role.h"

struct channel			spawner_chan;

static uint64_t			last_request;
static struct loop_timer	lost_timer;
static void			(*on_lost)(void);

static void
asked_leave(struct conn *c)
{
	if (ask_state(c)->undo != NULL)
		ask_state(c)->undo(c);
	if (ask_state(c)->pieces != NULL)
		text_free(ask_state(c)->pieces);
	free(ask_state(c)->pieces);
}

static void
asked_lost(struct conn *c)
{
	ask_done(c, ERR_TRY_AGAIN, "");
}

const struct conn_mode mode_asked = {
	.name = "asked",
	.clock = CLOCK_NONE,
	.lost = asked_lost,
	.leave = asked_leave,
};

struct msg_out *
ask_new(struct conn *c, enum msg_type type, const struct sid *sid)
{
	return msg_new(type, sid, c->number, ++last_request);
}

uint64_t
ask_last(void)
{
	return last_request;
}

void
ask_send(struct conn *c, struct msg_out *o, struct ask how)
{
	conn_enter(c, &mode_asked);
	*ask_state(c) = how;
	ask_state(c)->request = last_request;
	if (chan_send(&spawner_chan, o, -1) == -1)
		ask_done(c, ERR_TRY_AGAIN, "");
}

static void
session_done(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (err == ERR_OK)
		answer_session(c, &a->session);
	else
		answer_error(c, err, msg);
}

void
ask_session(struct conn *c, struct msg_out *o, const struct sid *sid)
{
	ask_send(c, o, (struct ask){ .fn = session_done, .session = *sid });
}

void
ask_done(struct conn *c, uint32_t err, const char *msg)
{
	/* the mode that is entered next has the same memory */
	struct ask a = *ask_state(c);

	/* leaving would undo what fn() is about to take over */
	ask_state(c)->undo = NULL;
	conn_enter(c, &mode_line);
	a.fn(c, &a, err, msg);
}

/* A mode that asks while it does other things takes the answer by itself. */
static void
answered(const struct msg *m, uint32_t err, const char *message)
{
	struct conn *c = conn_find(m->hdr.conn);

	if (c == NULL || c->mode->answered == NULL)
		return;
	c->mode->answered(c, m->hdr.request, err, message);
	conn_run(c);
}

struct conn *
ask_find(const struct msg *m)
{
	struct conn *c = conn_find(m->hdr.conn);

	/* what was asked by a connection that has gone is nobody's */
	if (c == NULL || c->mode != &mode_asked ||
	    ask_state(c)->request != m->hdr.request)
		return NULL;
	return c;
}

int
net_on_result(struct msg *m)
{
	struct conn *c = ask_find(m);
	uint32_t err = msg_get_u32(m);
	static const struct sid none;
	char message[1024];

	msg_get_str(m, message, sizeof(message));
	if (msg_end(m) == -1)
		return -1;
	if (c != NULL) {
		/* what was asked for may have been to make one */
		if (memcmp(&ask_state(c)->session, &none, sizeof(none)) == 0)
			ask_state(c)->session = m->hdr.session;
		ask_done(c, err, message);
		conn_run(c);
	} else
		answered(m, err, message);
	return 0;
}

/* -- the spawner comes and goes ------------------------------------------- */

static void
lost_one(struct conn *c, void *arg)
{
	(void)arg;
	/* a new spawner has to be told who it is */
	c->synced = false;
	if (c->mode->lost != NULL)
		c->mode->lost(c);
	conn_run(c);
}

static void
lost(void *arg)
{
	(void)arg;
	loop_timer_unset(&lost_timer);
	if (on_lost != NULL)
		on_lost();
	usage_lost();
	conn_each(lost_one, NULL);
	replica_clear();
}

/*
 * May be called from within any send, so what depends on the spawner is
 * dropped later, when nothing is half done.
 */
static void
gone(struct channel *ch, const char *why)
{
	loop_timer_set(&lost_timer, 0, lost, NULL);
	role_peer_gone(ch, why);
}

void
ask_init(void)
{
	chan_init(&spawner_chan, ROLE_NETPROC, ROLE_SPAWNER, gone, NULL);
}

void
ask_when_lost(void (*fn)(void))
{
	on_lost = fn;
}

void
ask_afresh(const char *what)
{
	if (!chan_is_open(&spawner_chan))
		return;
	log_warnx("no memory for %s; all of them are asked for again", what);
	chan_close(&spawner_chan);
	gone(&spawner_chan, NULL);
}

void
ask_peer(int fd, uint32_t generation)
{
	if (chan_is_open(&spawner_chan) || lost_timer.slot != 0) {
		chan_close(&spawner_chan);
		lost(NULL);
	}
	if (chan_open(&spawner_chan, fd, generation) == -1)
		role_peer_gone(&spawner_chan, NULL);
	usage_again();
	identity_ask_again();
}
