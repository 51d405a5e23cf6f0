/* SPDX-License-Identifier: ISC */
/*
 * idproc: the only process that looks users up.  It answers two questions:
 * whose is this connection (netproc asks, the spawner is told first), and
 * what account has this uid (the spawner asks).
 */
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "acctask.h"
#include "admit.h"
#include "base/log.h"
#include "confine/caps.h"
#include "diag.h"
#include "origin.h"
#include "peer.h"
#include "rules.h"
#include "sysfilter.h"
#include "tlspeers.h"
#include "wire/msg.h"
#include "wire/role.h"

int	id_on_listener_rule(struct msg *);
int	id_on_listener_rules_end(struct msg *);
int	id_on_diag(struct msg *);
int	id_on_who(struct msg *);
int	id_on_lookup(struct msg *);
int	id_on_tls_peer(struct msg *);
int	id_on_tls_gone(struct msg *);

/* More than can be on their way at once. */
#define DRAIN_MOST	65536

static struct channel	netproc_chan, spawner_chan, tls_chan;

static void	prepare(void);
static void	start_channels(void);
static void	peer(enum role, int, uint32_t);

static struct role_desc desc = {
	.self = ROLE_IDPROC,
	.prepare = prepare,
	.keep_root = true,
	.landlock_level = LANDLOCK_READONLY,
	.fsize = 0,
	.nproc = 0,
	.filter = &idproc_filter,
	.start = start_channels,
	.peer = peer,
	/* who sends SIGHUP may have changed groups as well */
	.settings = accounts_forget,
};

/*
 * In user mode started by root: only with this may the descriptors of root's
 * own clients be looked at.  The filter has no call that does more with it.
 */
static void
confine_for_root(void)
{
	uint64_t keep = caps_effective() & CAP_BIT(CAP_SYS_PTRACE);

	if (caps_set(keep, 0) == -1)
		role_cannot("drop its capabilities",
		    "this must always work: report it");
}

static void
prepare(void)
{
	accounts_preload();
	origin_init();
	/* a Landlock domain hides the descriptors of processes outside it */
	desc.landlock = role_mode == MODE_SYSTEM;
	if (role_mode == MODE_USER && geteuid() == 0)
		desc.confine = confine_for_root;
}

static void
gone(struct channel *c, const char *why)
{
	role_peer_gone(c, why);
}

static void
start_channels(void)
{
	chan_init(&netproc_chan, ROLE_IDPROC, ROLE_NETPROC, gone, NULL);
	chan_init(&spawner_chan, ROLE_IDPROC, ROLE_SPAWNER, gone, NULL);
	chan_init(&tls_chan, ROLE_IDPROC, ROLE_TLSPROC, gone, NULL);
	acctask_init();
}

static void
peer(enum role who, int fd, uint32_t generation)
{
	struct channel *c = who == ROLE_NETPROC ? &netproc_chan :
	    who == ROLE_SPAWNER ? &spawner_chan :
	    who == ROLE_TLSPROC ? &tls_chan : NULL;

	if (who == ROLE_ACCTPROC) {
		acctask_peer(fd, generation);
		return;
	}
	if (c == NULL) {
		close(fd);
		return;
	}
	if (who == ROLE_TLSPROC)
		tlspeers_clear();
	chan_close(c);
	if (chan_open(c, fd, generation) == -1)
		role_peer_gone(c, NULL);
}

int
id_on_listener_rule(struct msg *m)
{
	uint32_t flags, uid;
	const void *sa;
	size_t len;

	(void)msg_get_u32(m);
	flags = msg_get_u32(m);
	uid = msg_get_u32(m);
	sa = msg_get_rest(m, &len);
	if (msg_end(m) == -1)
		return -1;
	return rules_add(flags, uid, sa, len);
}

int
id_on_listener_rules_end(struct msg *m)
{
	rules_commit();
	return msg_end(m);
}

int
id_on_diag(struct msg *m)
{
	if (msg_end(m) == -1)
		return -1;
	return diag_open(msg_take_fd(m));
}

/* The spawner must know the principal before netproc speaks for it. */
static int
tell_spawner(const struct msg *m, const struct verdict *v)
{
	static const uint32_t flags[] = {
		[PEER_KNOWN] = 0,
		[PEER_REFUSED] = PRINCIPAL_REFUSED,
		[PEER_UNAUTHENTICATED] = PRINCIPAL_UNAUTHENTICATED,
		[PEER_LATER] = PRINCIPAL_REFUSED,
	};
	struct msg_out *o = msg_new(MSG_PRINCIPAL, NULL, m->hdr.conn,
	    m->hdr.request);

	msg_put_u32(o, v->principal.uid);
	msg_put_u32(o, v->principal.flags | flags[v->what]);
	msg_put_u32(o, v->door);
	msg_put_str(o, v->principal.name);
	msg_put_str(o, v->address);
	msg_put_str(o, v->why);
	return chan_send(&spawner_chan, o, -1);
}

int
id_on_tls_peer(struct msg *m)
{
	uint64_t inode = msg_get_u64(m);
	char name[USER_NAME_MAX];

	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1)
		return -1;
	return tlspeers_add(inode, name, m->fd);
}

int
id_on_tls_gone(struct msg *m)
{
	tlspeers_remove(msg_get_u64(m));
	return msg_end(m);
}

/*
 * false = tlsproc has not told of it: it will, when it or this process was
 * started again meanwhile, and netproc asks again.
 */
static bool
judge(int sock_fd, struct verdict *v)
{
	const struct verdict *known;

	if (!tlspeers_is_pair(sock_fd)) {
		peer_identify(sock_fd, v);
		return true;
	}
	if (settings.has_tls == 0) {
		peer_refuse(v, "it is an end of a pair, as those of TLS are, "
		    "and no listener speaks TLS");
		return true;
	}
	known = tlspeers_find(sock_fd);
	if (known == NULL) {
		chan_drain(&tls_chan, DRAIN_MOST);
		known = tlspeers_find(sock_fd);
	}
	if (known == NULL)
		return false;
	*v = *known;
	return true;
}

int
id_on_who(struct msg *m)
{
	struct verdict v;
	struct msg_out *o;

	if (msg_end(m) == -1 || m->hdr.conn == 0)
		return -1;
	if (!judge(m->fd, &v))
		return 0;
	if (tell_spawner(m, &v) == -1 && v.what != PEER_REFUSED &&
	    v.what != PEER_LATER) {
		v.what = PEER_LATER;
		(void)strcpy(v.why, "the spawner is being restarted");
	}
	o = msg_new(MSG_PEER_IS, NULL, m->hdr.conn, m->hdr.request);
	msg_put_u32(o, v.what);
	msg_put_u32(o, v.principal.uid);
	msg_put_u32(o, v.principal.flags);
	msg_put_str(o, v.principal.name);
	msg_put_str(o, v.address);
	msg_put_str(o, v.why);
	(void)chan_send(m->chan, o, -1);
	return 0;
}

/*
 * Names are asked for to give somebody rights: only who can be a principal is
 * found, and root is found as the user that its clients become.
 */
static const struct account *
principal_named(const char *name)
{
	static const struct account nobody = { .uid = (uid_t)-1 };
	const struct account *a = account_named(name);
	char why[PEER_REASON_MAX];
	struct principal p;

	int r;

	if (!a->found ||
	    (r = principal_of(a->uid, &p, why, sizeof(why))) == -1)
		return &nobody;
	return account_of(r == 0 ? p.uid : a->uid);
}

int
id_on_lookup(struct msg *m)
{
	uint32_t uid = msg_get_u32(m);
	char name[USER_NAME_MAX];
	char why[PEER_REASON_MAX];
	const struct account *a;
	struct msg_out *o;
	uint32_t i, flags;

	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1)
		return -1;
	a = name[0] == '\0' ? account_of(uid) : principal_named(name);
	flags = !a->found ? 0U : ACCOUNT_FOUND |
	    (account_is_admin(a) ? ACCOUNT_ADMIN : 0U);
	if (a->found && admit(a, why, sizeof(why)) != 0) {
		log_warnx("refused: %s", why);
		flags = (a->state == ACCT_UNREAD ? 0U : ACCOUNT_BARRED) |
		    acct_to_flags(a->state);
	}
	o = msg_new(MSG_ACCOUNT, NULL, m->hdr.conn, m->hdr.request);
	msg_put_u32(o, a->uid);
	msg_put_u32(o, flags);
	msg_put_u32(o, a->gid);
	msg_put_u32(o, a->ngroups);
	for (i = 0; i < a->ngroups; i++)
		msg_put_u32(o, a->groups[i]);
	msg_put_str(o, a->name);
	msg_put_str(o, a->home);
	msg_put_str(o, a->shell);
	msg_put_str(o, a->lacks);
	(void)chan_send(m->chan, o, -1);
	return 0;
}

int
main(void)
{
	role_main(&desc);
}
