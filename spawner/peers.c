/* SPDX-License-Identifier: ISC */
/*
 * The channels to the other roles: what each may ask, what is dropped when
 * one goes, and small things about fds.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "archive_job.h"
#include "audit.h"
#include "client.h"
#include "command.h"
#include "debugger.h"
#include "deps.h"
#include "gdbserver.h"
#include "guest.h"
#include "log.h"
#include "output_flow.h"
#include "owner.h"
#include "peers.h"
#include "quota.h"
#include "quotas.h"
#include "role.h"
#include "session.h"
#include "start.h"
#include "stop.h"
#include "tracer.h"
#include "upload.h"
#include "usage.h"

/* Bytes in the parent's queue: more than a busy second's audit lines. */
#define PARENT_BACKLOG	(1024 * 1024)
#define PACE_MS		10
/* Bytes in the launcher's queue: closing the images in it is slow work. */
#define SWEEP_BACKLOG	(64 * 1024)

struct channel	 netproc_chan, idproc_chan, launcher_chan;
bool		 shutting_down;

static struct loop_timer netproc_timer, idproc_timer, launcher_timer;
static struct loop_timer pace_timer;

uint64_t
next_serial(void)
{
	static uint64_t serial;

	return ++serial;
}

int
fd_copy(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void
fd_close(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

static void
on_pace(void *arg)
{
	bool late = chan_backlog(&parent_chan) > PARENT_BACKLOG / 2;

	(void)arg;
	chan_pause(&netproc_chan, late);
	if (late)
		loop_timer_set(&pace_timer, PACE_MS, on_pace, NULL);
}

void
peers_pace(void)
{
	if (pace_timer.slot == 0 &&
	    chan_backlog(&parent_chan) > PARENT_BACKLOG)
		on_pace(NULL);
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

static bool netproc_broke;	/* the rules, that is */

static void
drop_netproc(void *arg)
{
	(void)arg;
	upload_drop_all();
	command_drop_all();
	inst_drop_conn(0);
	flow_netproc_lost();
	archive_job_drop_packs(0);
	gdbserver_drop_all();
	audit_drop_waiting(0);
	quotas_drop_waiting();
	usage_stop();
	client_forget_all();
	/* an attacker in netproc may have kept keys that passed through it */
	if (netproc_broke)
		keys_end_all();
	netproc_broke = false;
}

static void
drop_idproc(void *arg)
{
	(void)arg;
	account_lost();
}

static void
drop_launcher(void *arg)
{
	(void)arg;
	start_launcher_lost();
	stop_launcher_lost();
	gdbserver_launcher_lost();
	inst_order_launcher_lost();
	dbg_launcher_lost();
	trc_launcher_lost();
	archive_job_launcher_lost();
	deps_launcher_lost();
	usage_launcher_lost();
	quota_launcher_lost();
	quotas_launcher_lost();
}

/* Timers that drop what belonged to a role: not inside a handler. */
static const struct peer {
	enum role		 role;
	struct channel		*chan;
	struct loop_timer	*timer;
	loop_timer_fn		 drop;
} peers[] = {
	{ ROLE_NETPROC, &netproc_chan, &netproc_timer, drop_netproc },
	{ ROLE_IDPROC, &idproc_chan, &idproc_timer, drop_idproc },
	{ ROLE_LAUNCHER, &launcher_chan, &launcher_timer, drop_launcher },
};
#define NPEERS	(sizeof(peers) / sizeof(peers[0]))

static const struct peer *
peer_find(enum role role)
{
	size_t i;

	for (i = 0; i < NPEERS; i++)
		if (peers[i].role == role)
			return &peers[i];
	return NULL;
}

/*
 * A send inside a handler may end here, so the sessions that the handler
 * holds must stay: the rest is done when the loop comes round.
 */
static void
on_gone(struct channel *c, const char *why)
{
	const struct peer *p = peer_find(c->peer);

	role_peer_gone(c, why);
	netproc_broke |= why != NULL && c == &netproc_chan;
	if (p != NULL)
		loop_timer_set(p->timer, 0, p->drop, NULL);
}

void
netproc_cut(const char *why)
{
	if (!chan_is_open(&netproc_chan))
		return;
	log_warnx("netproc is to be replaced: %s", why);
	chan_close(&netproc_chan);
	on_gone(&netproc_chan, why);
}

/*
 * Asked before every request that names a session in certain states: does
 * it exist for the asker, and is it in one of them?
 */
static int
check_state(struct msg *m, const struct msg_row *row)
{
	struct session *s = session_find(&m->hdr.session);
	struct asker a;
	enum err code = row->refusal;
	enum access access;

	if (!asker_init(&a, m, row->name))
		return -1;
	access = s == NULL ? ACCESS_NONE : access_of(a.viewer, s);
	if (access == ACCESS_NONE ||
	    (s->state == STATE_UPLOADING && (row->states != STATE_UPLOADING ||
	    s->owner != a.owner))) {
		answer(&a, &m->hdr.session, ERR_NOT_FOUND, NULL);
		return 1;
	}
	/* whatever names a state changes something */
	if (access < ACCESS_USE || (a.flags & PRINCIPAL_READ_ONLY)) {
		answer(&a, &m->hdr.session, ERR_READ_ONLY, NULL);
		return 1;
	}
	if (row->states & s->state)
		return 0;
	/* a start is under way: soon the answer would be another */
	if (s->state == STATE_STARTING && code == ERR_NOT_RUNNING)
		code = ERR_BUSY;
	answer(&a, &s->id, code, NULL);
	return 1;
}

/* Only netproc asks for others; of guests it has less to ask. */
static int
allow(struct msg *m, const struct msg_row *row)
{
	if (m->chan != &netproc_chan)
		return 0;
	client_learn(m->hdr.conn);
	if (guest_refused(m, row))
		return 1;
	return row->states == STATE_ANY ? 0 : check_state(m, row);
}

void
peer_replace(enum role role, int fd, uint32_t gen)
{
	const struct peer *p = peer_find(role);

	if (p == NULL) {
		fd_close(&fd);
		return;
	}
	chan_close(p->chan);
	loop_timer_unset(p->timer);
	p->drop(NULL);
	if (chan_open(p->chan, fd, gen) == -1)
		role_peer_gone(p->chan, NULL);
}

void
peers_init(void)
{
	size_t i;

	for (i = 0; i < NPEERS; i++)
		chan_init(peers[i].chan, ROLE_SPAWNER, peers[i].role, on_gone,
		    allow);
}
