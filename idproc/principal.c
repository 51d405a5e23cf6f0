/* SPDX-License-Identifier: ISC */
/* From the uid of a socket to the user whose sessions it may touch. */
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "admit.h"
#include "principal.h"
#include "wire/role.h"

/*
 * User mode serves one user, who need not have an account: in a container
 * the number may be all there is.
 */
static int
in_user_mode(uid_t uid, struct principal *p, char *why, size_t size)
{
	const struct account *a;

	if (uid != settings.daemon_uid) {
		(void)snprintf(why, size, "uid %u is not served: this daemon "
		    "serves uid %u alone; start debuglanternd as root to serve "
		    "every local user", uid, (uid_t)settings.daemon_uid);
		return -1;
	}
	a = account_of(uid);
	p->uid = uid;
	if (a->found)
		memcpy(p->name, a->name, sizeof(p->name));
	else
		(void)snprintf(p->name, sizeof(p->name), "%u", uid);
	return 0;
}

static int
in_system_mode(uid_t uid, struct principal *p, char *why, size_t size)
{
	const struct account *a;
	char number[16];
	int r;

	/* proxies run by root look like root: its sessions are nobody's own */
	if (uid == 0)
		uid = (uid_t)settings.run_uid;
	if (uid != settings.run_uid && uid < settings.min_uid) {
		(void)snprintf(why, size, "uid %u belongs to the system; users "
		    "from min-uid %u on are served", uid,
		    (unsigned int)settings.min_uid);
		return -1;
	}
	if (uid > LAST_UID) {
		(void)snprintf(why, size, "uid %u is above %u, the last that "
		    "is served", uid, (unsigned int)LAST_UID);
		return -1;
	}
	a = account_of(uid);
	if (!a->found) {
		(void)snprintf(why, size, "uid %u has no usable account on this "
		    "host", uid);
		return -1;
	}
	if ((r = admit(a, why, size)) != 0) {
		p->flags = acct_to_flags(a->state);
		return r;
	}
	if (uid != settings.run_uid &&
	    !settings_have_group(&settings, a->gid)) {
		(void)snprintf(why, size, "the primary group of %.32s is %.32s "
		    "(gid %u), one of the system's, which no session gets; "
		    "allow-group %.32s would let sessions have it", a->name,
		    group_name(a->gid, number), a->gid,
		    group_name(a->gid, number));
		return -1;
	}
	p->uid = uid;
	memcpy(p->name, a->name, sizeof(p->name));
	if (account_is_admin(a))
		p->flags |= PRINCIPAL_ADMIN;
	return 0;
}

int
principal_of(uid_t uid, struct principal *p, char *why, size_t size)
{
	memset(p, 0, sizeof(*p));
	return role_mode == MODE_USER ? in_user_mode(uid, p, why, size) :
	    in_system_mode(uid, p, why, size);
}
