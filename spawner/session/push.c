/* SPDX-License-Identifier: ISC */
/* Keeping netproc's replica of the sessions as new as the registry. */
#include "access.h"
#include "push.h"
#include "spawner/link/peers.h"

void
push_session(struct session *s)
{
	struct msg_out *o;

	/* the first that sees it gets it by that */
	if (!access_is_told(s)) {
		access_update(s);
		return;
	}
	o = msg_new(MSG_SESSION, &s->id, 0, 0);
	view_put(o, &s->view);
	(void)chan_send(&netproc_chan, o, -1);
}

void
push_ring(struct session *s)
{
	struct msg_out *o;

	if (!access_is_told(s) || s->ring.fd == -1)
		return;
	o = msg_new(MSG_RING, &s->id, 0, 0);
	msg_put_u32(o, s->view.run);
	(void)chan_lend(&netproc_chan, o, s->ring.fd);
}

void
push_gone(const struct session *s)
{
	(void)chan_send(&netproc_chan,
	    msg_new(MSG_SESSION_GONE, &s->id, 0, 0), -1);
}
