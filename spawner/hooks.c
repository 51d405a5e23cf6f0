/* SPDX-License-Identifier: ISC */
/*
 * Calls to other parts of the spawner when a role, session, client, user or
 * run begins, ends or changes.  The files in which that happens do not know
 * these parts.  The order of the calls in a function counts.
 */
#include "allow.h"
#include "hooks.h"
#include "spawner/client/audit.h"
#include "spawner/client/client.h"
#include "spawner/client/share.h"
#include "spawner/image/archive_job.h"
#include "spawner/image/upload.h"
#include "spawner/inst/debugger.h"
#include "spawner/inst/gdbserver.h"
#include "spawner/inst/instrument.h"
#include "spawner/inst/tracer.h"
#include "spawner/keys/guest.h"
#include "spawner/link/peers.h"
#include "spawner/policy/deps.h"
#include "spawner/policy/quota.h"
#include "spawner/policy/quotas.h"
#include "spawner/run/command.h"
#include "spawner/run/output_flow.h"
#include "spawner/run/run_hooks.h"
#include "spawner/run/start.h"
#include "spawner/run/stop.h"
#include "spawner/run/tty.h"
#include "spawner/session/access.h"
#include "spawner/session/owner.h"
#include "spawner/session/session.h"
#include "spawner/session/usage.h"

/* -- other roles ---------------------------------------------------------- */

static void
netproc_lost(bool broke)
{
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
	if (broke)
		keys_end_all();
}

static void
launcher_lost(void)
{
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

static const struct peers_hooks of_peers = {
	.netproc_lost = netproc_lost,
	.idproc_lost = account_lost,
	.launcher_lost = launcher_lost,
	.allow = allow_request,
};

/* -- sessions ------------------------------------------------------------- */

static void
session_unshown(struct session *s)
{
	access_end(s);
	guest_end_session(s);
}

static void
session_ends(struct session *s)
{
	if (s->job != NULL)
		archive_job_cancel(s->job);
	dbg_session_gone(s);
	trc_session_gone(s);
	flow_stop(s);
	gdbserver_free(s);
}

static void
session_freed(struct session *s)
{
	tty_free(s->start.tty);
	tty_free(s->tty);
}

static const struct session_hooks of_sessions = {
	.begins = flow_init,
	.unshown = session_unshown,
	.ends = session_ends,
	.freed = session_freed,
};

/* -- users and their connections ------------------------------------------ */

static const struct owner_hooks of_owners = {
	.no_admin = client_no_admin,
	.barred = client_bar,
};

static void
conn_closed(uint32_t conn)
{
	upload_drop_conn(conn);
	command_drop_conn(conn);
	inst_drop_conn(conn);
	archive_job_drop_packs(conn);
}

static void
client_ended(struct client *c)
{
	tty_drop_input(c->number);
	flow_drop_client(c);
}

static void
token_ended(const char *id)
{
	gdbserver_end_token(id);
	keys_end_token(id);
}

static void
admins_ended(const struct viewer *v)
{
	gdbserver_end_admins(v);
	keys_end_admins(v);
}

static const struct client_hooks of_clients = {
	.closed = conn_closed,
	.ended = client_ended,
	.freed = flow_drop_client,
	.token_ended = token_ended,
	.admins_ended = admins_ended,
	.owner_barred = gdbserver_end_owner,
};

static void
share_changed(struct session *s)
{
	gdbserver_access_changed(s);
	client_access_changed(s);
	flow_access_changed(s);
}

/* -- runs ----------------------------------------------------------------- */

static void
run_begun(struct session *s, uint32_t pid, uint32_t inner_pid, bool ordered)
{
	if (s->adapter)
		dbg_ran(s, pid, inner_pid);
	else
		trc_ran(s, pid, inner_pid, ordered);
}

static void
order_failed(struct session *s, bool adapter, enum err code, const char *why)
{
	if (adapter)
		dbg_run_failed(s, code, why);
	else
		trc_run_failed(s, code, why);
}

static void
debug_from_start(struct session *s, struct asker *a, bool by_pipe)
{
	gdbserver_begin(s, a, by_pipe, true);
}

static void
more_output(struct session *s)
{
	if (s->dbg != NULL)
		inst_output(&s->dbg->i);
	if (s->trc != NULL)
		inst_output(&s->trc->i);
}

static bool
reaches_too_far(const struct session *s, const struct asker *a)
{
	return s->dbg != NULL && dbg_is_too_far(s->dbg, a);
}

/* The tracer of a program that was killed hears first, if it listens. */
static void
last_stage(struct session *s)
{
	if (s->trc != NULL)
		inst_kill(&s->trc->i);
}

static void
run_stopped(struct session *s)
{
	dbg_tree_gone(s);
	trc_tree_gone(s);
}

static const struct run_hooks of_runs = {
	.in_way = trc_is_in_way,
	.ran = run_begun,
	.failed = order_failed,
	.debug = debug_from_start,
	.output = more_output,
	.too_far = reaches_too_far,
	.signal_sent = trc_signal_sent,
	.last_stage = last_stage,
	.adapter_ended = dbg_adapter_ended,
	.tree_gone = gdbserver_tree_gone,
	.stopped = run_stopped,
	.stop_told = gdbserver_tell_refused,
};

void
hooks_init(void)
{
	peers_init(&of_peers);
	session_init(&of_sessions);
	owner_init(&of_owners);
	client_init(&of_clients);
	share_init(share_changed);
	run_hooks = &of_runs;
}
