/* SPDX-License-Identifier: ISC */
/* Orders to the launcher that need no answer, or none that is waited for. */
#include "launcher_msg.h"
#include "peers.h"
#include "spawner/session/session.h"

/* Bytes in the launcher's queue: closing the images in it is slow work. */
#define SWEEP_BACKLOG	(64 * 1024)

int
send_signal(const struct session *s, uint64_t serial, int pidfd, int sig,
    uint32_t whom)
{
	struct msg_out *o;
	int fd = fd_copy(pidfd);

	if (fd == -1)
		return -1;
	o = msg_new(MSG_SEND_SIGNAL, s == NULL ? NULL : &s->id, 0, serial);
	msg_put_u32(o, (uint32_t)sig);
	msg_put_u32(o, whom);
	msg_put_u32(o, s == NULL ? 0 : s->owner->uid);
	return chan_send(&launcher_chan, o, fd);
}

void
sweep(const struct session *s, int fd)
{
	struct msg_out *o;

	/* else deleted images would pile up, and the quota not hold */
	if (chan_backlog(&launcher_chan) > SWEEP_BACKLOG)
		fd_close(&fd);
	if (s == NULL && fd == -1)
		return;
	o = msg_new(MSG_SWEEP, s == NULL ? NULL : &s->id, 0, 0);
	msg_put_u32(o, s == NULL ? 0 : s->owner->uid);
	msg_put_u32(o, LEAF_SESSION);
	(void)chan_send(&launcher_chan, o, fd);
}
