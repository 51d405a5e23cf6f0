/* SPDX-License-Identifier: ISC */
/* Channels to idproc and netproc, and what is said on them. */
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "conn.h"
#include "handover.h"
#include "wire/role.h"

static struct channel	idproc_chan, netproc_chan;

static void
gone(struct channel *c, const char *why)
{
	role_peer_gone(c, why);
}

void
handover_init(void)
{
	chan_init(&idproc_chan, ROLE_TLSPROC, ROLE_IDPROC, gone, NULL);
	chan_init(&netproc_chan, ROLE_TLSPROC, ROLE_NETPROC, gone, NULL);
}

void
handover_peer(enum role who, int fd, uint32_t generation)
{
	struct channel *c = who == ROLE_IDPROC ? &idproc_chan :
	    who == ROLE_NETPROC ? &netproc_chan : NULL;

	if (c == NULL) {
		close(fd);
		return;
	}
	chan_close(c);
	if (chan_open(c, fd, generation) == -1)
		role_peer_gone(c, NULL);
	/* a new idproc knows nobody yet */
	if (who == ROLE_IDPROC)
		conn_introduce_all();
	conn_hand_over_all();
}

bool
handover_possible(void)
{
	return chan_is_open(&idproc_chan) && chan_is_open(&netproc_chan);
}

int
handover_tell_peer(uint64_t inode, const char *name, int tcp_fd)
{
	int fd = fcntl(tcp_fd, F_DUPFD_CLOEXEC, 0);
	struct msg_out *o;

	if (fd == -1)
		return -1;
	o = msg_new(MSG_TLS_PEER, NULL, 0, 0);
	msg_put_u64(o, inode);
	msg_put_str(o, name);
	return chan_send(&idproc_chan, o, fd);
}

void
handover_conn(uint32_t listener, int plain_fd)
{
	struct msg_out *o = msg_new(MSG_TLS_CONN, NULL, 0, 0);

	msg_put_u32(o, listener);
	(void)chan_send(&netproc_chan, o, plain_fd);
}

void
handover_gone(uint64_t inode)
{
	struct msg_out *o = msg_new(MSG_TLS_GONE, NULL, 0, 0);

	msg_put_u64(o, inode);
	(void)chan_send(&idproc_chan, o, -1);
}
