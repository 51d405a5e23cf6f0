/* SPDX-License-Identifier: ISC */
/* Checks of netproc's requests, before a handler sees them. */
#include "allow.h"
#include "spawner/client/answer.h"
#include "spawner/client/client.h"
#include "spawner/keys/guest.h"
#include "spawner/link/peers.h"
#include "spawner/session/access.h"
#include "spawner/session/session.h"

/*
 * Asked before every request that names a session in certain states: does
 * it exist for the asker, and is it in one of them?
 */
static int
check_state(struct msg *m, const struct msg_row *row)
{
	struct session *s = session_find(&m->hdr.session);
	struct asker a;
	enum err code = row->refusal;
	enum access access;

	if (!asker_init(&a, m, row->name))
		return -1;
	access = s == NULL ? ACCESS_NONE : access_of(a.viewer, s);
	if (access == ACCESS_NONE ||
	    (s->state == STATE_UPLOADING && (row->states != STATE_UPLOADING ||
	    s->owner != a.owner))) {
		answer(&a, &m->hdr.session, ERR_NOT_FOUND, NULL);
		return 1;
	}
	/* whatever names a state changes something */
	if (access < ACCESS_USE || (a.flags & PRINCIPAL_READ_ONLY)) {
		answer(&a, &m->hdr.session, ERR_READ_ONLY, NULL);
		return 1;
	}
	if (row->states & s->state)
		return 0;
	/* a start is under way: soon the answer would be another */
	if (s->state == STATE_STARTING && code == ERR_NOT_RUNNING)
		code = ERR_BUSY;
	answer(&a, &s->id, code, NULL);
	return 1;
}

int
allow_request(struct msg *m, const struct msg_row *row)
{
	if (m->chan != &netproc_chan)
		return 0;
	client_learn(m->hdr.conn);
	if (guest_refused(m, row))
		return 1;
	return row->states == STATE_ANY ? 0 : check_state(m, row);
}
