/* SPDX-License-Identifier: ISC */
/*
 * tlsproc: where TLS ends.  It alone holds the private key; it shakes hands
 * with clients and passes bytes between them and netproc without looking at
 * them.
 */
#include <unistd.h>

#include "confine/confine.h"
#include "conn.h"
#include "handover.h"
#include "keys.h"
#include "listener.h"
#include "sysfilter.h"
#include "wire/role.h"

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
	tls_listener_limit();
	keys_load();
	handover_init();
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
		.filter = &tlsproc_filter,
		.start = start,
		.peer = handover_peer,
		.settings = tls_listener_limit,
	};

	role_main(&desc);
}
