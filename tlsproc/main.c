/* SPDX-License-Identifier: ISC */
/*
 * tlsproc: where TLS ends.  It alone holds the private key; it shakes hands
 * with clients and passes bytes between them and netproc without looking at
 * them.
 */
#include <sys/socket.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "confine.h"
#include "conn.h"
#include "hand.h"
#include "keys.h"
#include "listener.h"
#include "role.h"

#define PAIR	(SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)
#define OPTION(level, name)						\
	ALLOW_ARG(setsockopt, FILTER_INT(1, level), FILTER_INT(2, name))

/* It accepts and makes pairs; it cannot connect, listen, or open a file. */
static const struct filter_rule rules[] = {
	ALLOW(accept4), ALLOW(shutdown),
	ALLOW_ARG(socketpair, FILTER_INT(0, AF_UNIX), FILTER_INT(1, PAIR),
	    FILTER_INT(2, 0)),
	OPTION(IPPROTO_TCP, TCP_NODELAY),
	OPTION(IPPROTO_TCP, TCP_KEEPIDLE),
	OPTION(IPPROTO_TCP, TCP_KEEPINTVL),
	OPTION(SOL_SOCKET, SO_KEEPALIVE),
	OPTION(SOL_SOCKET, SO_SNDBUF),
	/* a copy of a connection for idproc to look at */
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
};

static const struct filter filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};

/*
 * The key is read with no more rights than this role's user has.  The
 * capability to change the root directory stays until that is done.
 */
static void
prepare(void)
{
	uid_t uid;
	gid_t gid;

	if (role_mode == MODE_SYSTEM) {
		role_service_ids(&uid, &gid);
		if (confine_ids(uid, gid) == -1)
			role_cannot("become its service user",
			    "start debuglanternd as root");
	}
	listener_limit();
	keys_load();
	hand_init();
}

static void
start(void)
{
	struct msg_out *o = msg_new(MSG_TLS_READY, NULL, 0, 0);

	msg_put_u64(o, (uint64_t)keys_expiry());
	msg_put_str(o, keys_fingerprint());
	(void)chan_send(&parent_chan, o, -1);
}

int
main(void)
{
	static const struct role_desc desc = {
		.self = ROLE_TLSPROC,
		.prepare = prepare,
		.landlock = true,
		.landlock_level = LANDLOCK_NOTHING,
		.fsize = 0,
		.nproc = 0,
		.filter = &filter,
		.start = start,
		.peer = hand_peer,
	};

	role_main(&desc);
}
