/* SPDX-License-Identifier: ISC */
/* Keeping netproc's replica of the sessions as new as the registry. */
#include "peers.h"
#include "push.h"

static bool
is_held(const struct session *s)
{
	return s->owner->held && session_is_shown(s);
}

void
push_session(struct session *s)
{
	struct msg_out *o;

	if (!is_held(s))
		return;
	o = msg_new(MSG_SESSION, &s->id, 0, 0);
	view_put(o, &s->view);
	(void)chan_send(&netproc_chan, o, -1);
}

void
push_ring(struct session *s)
{
	struct msg_out *o;
	int fd;

	if (!is_held(s) || s->ring.fd == -1)
		return;
	fd = fd_copy(s->ring.fd);
	if (fd == -1)
		return;
	o = msg_new(MSG_RING, &s->id, 0, 0);
	msg_put_u32(o, s->view.run);
	(void)chan_send(&netproc_chan, o, fd);
}

void
push_gone(const struct session *s)
{
	if (s->owner->held)
		(void)chan_send(&netproc_chan,
		    msg_new(MSG_SESSION_GONE, &s->id, 0, 0), -1);
}

void
push_owner(const struct owner *owner)
{
	struct session *s;

	SESSION_FOREACH(s) {
		if (s->owner != owner)
			continue;
		push_session(s);
		push_ring(s);
	}
}

void
push_owner_gone(const struct owner *owner)
{
	struct session *s;

	SESSION_FOREACH(s)
		if (s->owner == owner && session_is_shown(s))
			push_gone(s);
}
