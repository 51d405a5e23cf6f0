/* SPDX-License-Identifier: ISC */
/* Holding a session's output back; see the header. */
#include "ask.h"
#include "base/errors.h"
#include "conn.h"
#include "hold.h"
#include "replica.h"

/* Worth a message: so many bytes, or such a part of the ring. */
#define STEP		((uint64_t)64 * 1024)
#define STEP_PART	8

uint64_t
hold_taken(uint64_t offset, size_t unsent, size_t longest)
{
	/* text is never shorter than the bytes that it stands for */
	uint64_t behind = unsent == 0 ? 0 : (uint64_t)unsent + longest;

	return offset > behind ? offset - behind : 0;
}

bool
hold_is_news(const struct hold *h, const struct ring *r, uint64_t taken)
{
	uint64_t step = r->size / STEP_PART < STEP ? r->size / STEP_PART :
	    STEP;

	if (taken <= h->told)
		return false;
	/* the spawner waits at half as many changes as the ring remembers */
	return taken - h->told >= step ||
	    ring_changes(r, h->told, RING_MARKS / STEP_PART);
}

uint32_t
hold_refused(const struct conn *c, const char **why)
{
	const struct rsession *s = c->watched;

	*why = NULL;
	if (!replica_may_use(c, s))
		return ERR_READ_ONLY;
	if (!s->view.tty)
		return ERR_OK;
	*why = "hold needs a session on pipes; a program on a terminal waits "
	    "for the clients that ATTACH";
	return ERR_INVALID_ARGUMENT;
}

void
hold_tell(struct conn *c, struct hold *h, uint32_t run, uint64_t offset)
{
	struct msg_out *o = msg_new(MSG_HOLD, &c->watched->sid, c->number, 0);

	h->told = offset;
	msg_put_u32(o, run);
	msg_put_u64(o, offset);
	(void)chan_send(&spawner_chan, o, -1);
}
