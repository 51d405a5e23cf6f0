/* SPDX-License-Identifier: ISC */
/*
 * A tlsproc that has been taken over.  The name of the certificate that it is
 * given tells what it does with a channel to netproc or idproc.
 */
#include <sys/socket.h>

#include <string.h>
#include <unistd.h>

#include "wire/role.h"

#define FLOOD	100000
#define PIECE	500

int	tls_on_listener(struct msg *);
int	tls_on_listener_gone(struct msg *);

static struct channel	chans[ROLE_COUNT];

static void
send_conn(struct channel *c, uint32_t listener, int fd)
{
	struct msg_out *o = msg_new(MSG_TLS_CONN, NULL, 0, 0);

	msg_put_u32(o, listener);
	(void)chan_send(c, o, fd);
}

static void
send_peer(struct channel *c, uint64_t inode, const char *name, int fd)
{
	struct msg_out *o = msg_new(MSG_TLS_PEER, NULL, 0, 0);

	msg_put_u64(o, inode);
	msg_put_str(o, name);
	(void)chan_send(c, o, fd);
}

/* A row that is somebody else's. */
static void
wrong_row(struct channel *c)
{
	(void)chan_send(c, msg_new(c->peer == ROLE_NETPROC ? MSG_SYNCED :
	    MSG_WHO, NULL, 1, 0), -1);
}

static void
accuse(struct channel *c)
{
	role_peer_gone(c, "made up");
}

/* A connection of its own making, with and without the word to idproc. */
static void
make_up(struct channel *c)
{
	int fds[2];

	if (c->peer != ROLE_NETPROC ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		return;
	if (write(fds[0], "UPLOAD 1\nx", 10) != 10)
		_exit(3);
	send_conn(c, 0, dup(fds[1]));
	send_conn(c, 1, dup(fds[1]));
	send_conn(c, 2, fds[1]);
}

static struct loop_timer flood_timer;
static uint64_t		 flooded;
static int		 flood_fd = -1;

static void
flood_more(void *arg)
{
	struct channel *c = arg;
	int i;

	/* only as much as is read: it is the number that counts */
	for (i = 0; i < PIECE && chan_backlog(c) == 0; i++)
		send_peer(c, flooded++, "root", dup(flood_fd));
	if (flooded < FLOOD && chan_is_open(c))
		loop_timer_set(&flood_timer, 1, flood_more, c);
}

/* More peers than there can be. */
static void
flood(struct channel *c)
{
	int fds[2];

	if (c->peer != ROLE_IDPROC ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		return;
	flood_fd = fds[0];
	flood_more(c);
}

/* A socket where a connection belongs that is none. */
static void
odd_sockets(struct channel *c)
{
	int fds[2];

	if (c->peer != ROLE_NETPROC ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) == -1)
		return;
	send_conn(c, 1, fds[0]);
	send_conn(c, 1, fds[1]);
}

static const struct {
	const char	*name;
	void		(*act)(struct channel *);
} acts[] = {
	{ "wrong-row", wrong_row },
	{ "accuse", accuse },
	{ "make-up", make_up },
	{ "flood", flood },
	{ "odd-sockets", odd_sockets },
};

static void
gone(struct channel *c, const char *why)
{
	(void)c;
	(void)why;
}

static void
peer(enum role role, int fd, uint32_t generation)
{
	chan_init(&chans[role], ROLE_TLSPROC, role, gone, NULL);
	if (chan_open(&chans[role], fd, generation) == -1)
		_exit(3);
}

/* The daemon has started: a role that is ended from now on restarts. */
int
tls_on_listener(struct msg *m)
{
	const char *what = strrchr(settings.tls_certificate, '/');
	size_t i;

	(void)m;
	for (i = 0; what != NULL && i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, what + 1) != 0)
			continue;
		acts[i].act(&chans[ROLE_NETPROC]);
		acts[i].act(&chans[ROLE_IDPROC]);
	}
	return 0;
}

int
tls_on_listener_gone(struct msg *m)
{
	(void)m;
	return 0;
}

int
main(void)
{
	static const struct role_desc desc = {
		.self = ROLE_TLSPROC,
		.fsize = 0,
		.nproc = 0,
		.peer = peer,
	};

	role_main(&desc);
}
