/* SPDX-License-Identifier: ISC */
/*
 * netproc: the one process that the network can talk to.  It holds every
 * connection of clients, parses what they send, and answers from its copy
 * of the sessions or with the word of the spawner.  It owns no session and
 * no file, and whatever it says of itself nobody believes.
 */
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "conn.h"
#include "listener.h"
#include "request.h"
#include "role.h"
#include "sysfilter.h"
#include "who.h"

static void
prepare(void)
{
	/* gmtime_r() would look for the time zone's file at its first call */
	tzset();
	listener_limit();
	request_init();
	ask_init();
	who_init();
	listener_init();
}

static void
peer(enum role role, int fd, uint32_t generation)
{
	if (role == ROLE_SPAWNER)
		ask_peer(fd, generation);
	else if (role == ROLE_IDPROC)
		who_peer(fd, generation);
	else if (role == ROLE_TLSPROC)
		listener_tls_peer(fd, generation);
	else
		close(fd);
}

static const struct role_desc desc = {
	.self = ROLE_NETPROC,
	.prepare = prepare,
	.landlock = true,
	.landlock_level = LANDLOCK_NOTHING,
	/* the limit would hold for the memory files of uploads too */
	.fsize = -1,
	.nproc = 0,
	.filter = &netproc_filter,
	.start = conn_init,
	.peer = peer,
};

int
main(void)
{
	role_main(&desc);
}
