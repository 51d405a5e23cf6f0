/* SPDX-License-Identifier: ISC */
/*
 * spawner: the only place where state is decided.  It holds the registry of
 * sessions, their images, rings and pidfds, checks quotas and policy, and
 * tells the launcher what to do.  It runs in an empty root without
 * capabilities; nothing here opens a path or executes anything.
 */
#include <time.h>

#include "hooks.h"
#include "shutdown.h"
#include "spawner/client/client.h"
#include "spawner/image/upload.h"
#include "spawner/keys/guest.h"
#include "spawner/keys/state.h"
#include "spawner/link/peers.h"
#include "sysfilter.h"
#include "wire/role.h"

static void
prepare(void)
{
	/* gmtime_r() reads the time zone's file once, which is out of reach */
	tzset();
	state_receive();
	hooks_init();
	upload_init();
	keys_init(key_ended);
	client_settings();
}

static const struct role_desc desc = {
	.self = ROLE_SPAWNER,
	.prepare = prepare,
	.landlock = true,
	.landlock_level = LANDLOCK_NOTHING,
	.fsize = -1,		/* would bound the images too */
	.nproc = 0,
	.filter = &spawner_filter,
	.peer = peer_replace,
	.settings = client_settings,
	.shutdown = shutdown_begin,
};

int
main(void)
{
	role_main(&desc);
}
