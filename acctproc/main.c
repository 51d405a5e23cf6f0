/* SPDX-License-Identifier: ISC */
/*
 * acctproc: the only process that may read /etc/shadow, and it tells nobody
 * what is in there but idproc, and idproc one number: is this account locked
 * or has it expired.  It comes with that file's group, from acctgate of
 * setup/acct_starter.c, and can get no other right.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "confine/caps.h"
#include "shadowfile.h"
#include "sysfilter.h"
#include "wire/msg.h"
#include "wire/proto.h"
#include "wire/role.h"

#define DAY_S	(24 * 3600)

int	acct_on_ask(struct msg *);

static struct channel	idproc_chan;

/* It was started with these and no capability: nothing can be given up. */
static void
confine_own(void)
{
	uid_t want_uid, r, e, s;
	gid_t want_gid, rg, eg, sg;

	role_service_ids(&want_uid, &want_gid);
	if (caps_set(0, 0) == -1 || getresuid(&r, &e, &s) == -1 ||
	    getresgid(&rg, &eg, &sg) == -1)
		role_cannot("drop its capabilities",
		    "this must always work: report it");
	errno = EPERM;
	if (r != want_uid || e != want_uid || s != want_uid ||
	    rg != want_gid || eg != want_gid || sg != want_gid ||
	    getgroups(0, NULL) != 0)
		role_cannot("be its service user",
		    "start debuglanternd as root");
}

static void
gone(struct channel *c, const char *why)
{
	role_peer_gone(c, why);
}

static void
start(void)
{
	chan_init(&idproc_chan, ROLE_ACCTPROC, ROLE_IDPROC, gone, NULL);
}

static void
peer(enum role who, int fd, uint32_t generation)
{
	if (who != ROLE_IDPROC) {
		close(fd);
		return;
	}
	chan_close(&idproc_chan);
	if (chan_open(&idproc_chan, fd, generation) == -1)
		role_peer_gone(&idproc_chan, NULL);
}

int
acct_on_ask(struct msg *m)
{
	char name[USER_NAME_MAX];
	struct msg_out *o;

	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1)
		return -1;
	o = msg_new(MSG_ACCT_IS, NULL, 0, m->hdr.request);
	msg_put_u32(o, shadow_look(SHADOW_FILE, name,
	    (long)(time(NULL) / DAY_S)));
	(void)chan_send(m->chan, o, -1);
	return 0;
}

int
main(void)
{
	static const struct role_desc desc = {
		.self = ROLE_ACCTPROC,
		.confine = confine_own,
		.landlock = true,
		.landlock_level = LANDLOCK_ETC,
		.fsize = 0,
		.nproc = 0,
		.filter = &acctproc_filter,
		.start = start,
		.peer = peer,
	};

	role_main(&desc);
}
