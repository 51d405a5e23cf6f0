/* SPDX-License-Identifier: ISC */
/*
 * The adapter that a debugger orders: as its session's program, which ends
 * with all that it has started, or beside a program that runs already.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "debugger.h"
#include "spawner/client/activity.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/run/command.h"
#include "spawner/run/exit.h"
#include "spawner/run/expiry.h"
#include "spawner/run/output.h"
#include "spawner/run/runspec.h"
#include "spawner/run/start.h"
#include "spawner/run/stop.h"
#include "spawner/session/push.h"
#include "wire/fdkind.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define ATTACH_MS	10000
/* A debugger reports a detach a moment before its adapter ends, or after. */
#define LEAVE_MS	300

static void
tell_fd(struct dbgproc *p, enum dbg_fd kind, int fd)
{
	struct msg_out *o = msg_new(MSG_DBG_FD, &p->i.session->id, 0, 0);

	msg_put_u32(o, kind);
	(void)chan_send(&p->i.chan, o, fd);
}

static void
tell_ran(struct dbgproc *p, uint32_t pid, uint32_t inner_pid)
{
	struct msg_out *o;

	p->i.ordered = false;
	p->reported = false;
	o = msg_new(MSG_DBG_RAN, &p->i.session->id, 0, 0);
	msg_put_u32(o, pid);
	msg_put_u32(o, inner_pid);
	msg_put_u32(o, p->on ? 0 : p->i.session->inner_pid);
	runspec_put_path(o, p->i.session);
	(void)chan_send(&p->i.chan, o, -1);
}

static void
tell_ended(struct dbgproc *p)
{
	struct msg_out *o = msg_new(MSG_DBG_ENDED, &p->i.session->id, 0, 0);

	msg_put_u32(o, DBG_ENDED_ADAPTER);
	msg_put_u32(o, p->reported ? p->code : 0);
	msg_put_u32(o, p->reported ? p->signal : SIGKILL);
	p->i.used = loop_now_ms();
	(void)chan_send(&p->i.chan, o, -1);
}

/* How an adapter beside a program ended is told to nobody but its parent. */
static void
tell_beside_ended(struct dbgproc *p)
{
	const struct session_view *v = &p->i.session->view;
	struct msg_out *o = msg_new(MSG_DBG_ENDED, &p->i.session->id, 0, 0);
	bool known = v->exited_ns != 0 && (v->has_exit_code || v->signal != 0);

	msg_put_u32(o, known ? DBG_ENDED_PROGRAM : 0);
	msg_put_u32(o, known && v->has_exit_code ? v->exit_code : 0);
	msg_put_u32(o, known ? v->signal : 0);
	p->i.used = loop_now_ms();
	(void)chan_send(&p->i.chan, o, -1);
}

/* -- beside --------------------------------------------------------------- */

static void
beside_close(struct beside *b)
{
	size_t i;

	loop_timer_unset(&b->timer);
	loop_del(&b->pid_io);
	for (i = 0; i < ATTACH_FD_COUNT; i++)
		fd_close(&b->fds[i]);
	b->serial = 0;
	b->on = false;
}

static void
beside_over(struct dbgproc *p)
{
	struct session *s = p->i.session;

	if (!p->beside.on)
		return;
	beside_close(&p->beside);
	if (s->state == STATE_DEBUGGING) {
		session_set_state(s, STATE_RUNNING);
		activity_note(s->owner, &s->id, "debugger detached");
	}
}

static void
on_beside_pid(uint32_t events, void *arg)
{
	struct dbgproc *p = arg;

	(void)events;
	/* that of the program may be what has ended it */
	exit_look(p->i.session);
	beside_over(p);
	tell_beside_ended(p);
	dbg_show(p->i.session);
}

static void
on_beside_late(void *arg)
{
	struct dbgproc *p = arg;

	beside_close(&p->beside);
	inst_tell_failed(&p->i, "adapter_failed", "the adapter was not started within "
	    "10 seconds");
}

bool
dbg_is_beside(const struct session *s)
{
	return s->dbg != NULL &&
	    (s->dbg->beside.on || s->dbg->beside.serial != 0);
}

static void
run_beside(struct dbgproc *p, const struct adapter_order *a)
{
	struct session *s = p->i.session;
	struct run_spec spec;
	struct msg_out *o;
	int fd;

	if (s->state != STATE_RUNNING || s->view.pid == 0 ||
	    s->gdb.phase != GDB_NONE || s->stop.stage != STOP_NONE) {
		inst_tell_failed(&p->i, "not_running", "there is no program in this "
		    "session that a debugger could be attached to");
		return;
	}
	fd = fd_copy(s->target_fd);
	runspec_adapter(&spec, s, a, &s->owner->account);
	p->beside.serial = next_serial();
	o = msg_new(MSG_ATTACH, &s->id, 0, p->beside.serial);
	owner_put(o, &s->owner->account.rights);
	msg_put_u32(o, s->inner_pid);
	msg_put_u32(o, ATTACH_PIPES);
	msg_put_blob(o, spec.argv, spec.argv_len);
	msg_put_blob(o, spec.envp, spec.envp_len);
	runspec_put_limits(o, s);
	if (fd == -1 || chan_send(&launcher_chan, o, fd) == -1) {
		beside_close(&p->beside);
		inst_tell_failed(&p->i, "try_again", err_text(ERR_TRY_AGAIN));
		return;
	}
	p->i.ordered = true;
	loop_timer_set(&p->beside.timer, ATTACH_MS, on_beside_late, p);
}

static struct dbgproc *
find_beside(const struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);

	return s != NULL && s->dbg != NULL && m->hdr.request != 0 &&
	    s->dbg->beside.serial == m->hdr.request ? s->dbg : NULL;
}

int
dbg_on_attach_fd(struct msg *m, uint32_t kind)
{
	static const enum msg_fd kinds[ATTACH_FD_COUNT] = {
		[ATTACH_FD_WIRE] = FD_PIPE,
		[ATTACH_FD_ERRORS] = FD_PIPE,
		[ATTACH_FD_PIDFD] = FD_PIDFD,
		[ATTACH_FD_OUT] = FD_PIPE,
	};
	struct dbgproc *p = find_beside(m);

	if (kind >= ATTACH_FD_COUNT)
		return -1;
	/* of one that was given up: its pipes close, it goes */
	if (p == NULL)
		return 0;
	if (fdkind_check(kinds[kind], m->fd) != NULL ||
	    p->beside.fds[kind] != -1)
		return -1;
	p->beside.fds[kind] = msg_take_fd(m);
	return 0;
}

static int
take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

int
dbg_on_attached(struct msg *m, uint32_t pid, uint32_t inner_pid)
{
	struct dbgproc *p = find_beside(m);
	struct beside *b;
	size_t i;

	if (p == NULL)
		return 0;
	b = &p->beside;
	for (i = 0; i < ATTACH_FD_COUNT; i++)
		if (b->fds[i] == -1)
			return -1;
	loop_timer_unset(&b->timer);
	b->serial = 0;
	b->on = true;
	if (loop_add(&b->pid_io, b->fds[ATTACH_FD_PIDFD], EPOLLIN,
	    on_beside_pid, p) == -1) {
		log_warn("watching an adapter");
		beside_close(b);
		inst_tell_failed(&p->i, "adapter_failed", "the spawner cannot watch "
		    "one more process");
		return 0;
	}
	inst_tell_ring(&p->i);
	tell_fd(p, DBG_FD_IN, take(&b->fds[ATTACH_FD_WIRE]));
	tell_fd(p, DBG_FD_OUT, take(&b->fds[ATTACH_FD_OUT]));
	tell_fd(p, DBG_FD_ERR, take(&b->fds[ATTACH_FD_ERRORS]));
	tell_ran(p, pid, inner_pid);
	if (p->i.session->state == STATE_RUNNING)
		session_set_state(p->i.session, STATE_DEBUGGING);
	dbg_show(p->i.session);
	return 0;
}

int
dbg_on_attach_failed(struct msg *m, uint32_t step, uint32_t errnum)
{
	struct dbgproc *p = find_beside(m);
	const char *why = strerrordesc_np((int)errnum);
	char text[400];

	if (p == NULL)
		return 0;
	beside_close(&p->beside);
	if (!start_used_up(p->i.session, step, errnum, text, sizeof(text)))
		(void)snprintf(text, sizeof(text), "cannot %s: %s",
		    step_text(step), why == NULL ? "unknown error" : why);
	inst_tell_failed(&p->i, step == STEP_COMMAND ? "adapter_missing" :
	    "adapter_failed", text);
	return 0;
}

/* -- as the session's program --------------------------------------------- */

/*
 * An adapter in a sandbox is as hostile as the program there, and may have
 * taken over who speaks with it.
 */
static bool
may_leave_sandbox(const struct dbgproc *p)
{
	return settings.allow_sandbox & 1U << SANDBOX_NONE ||
	    (p->host && !p->inside);
}

static bool
run_allowed(struct dbgproc *p, uint32_t flags)
{
	const char *why = NULL, *code = "refused";
	struct session *s = p->i.session;

	if (p->i.ordered || p->on || dbg_is_beside(s)) {
		code = "busy";
		why = "the debugger has an adapter already";
	} else if (flags & DBG_RUN_BESIDE) {
		return true;
	} else if (!(s->state & (STATE_LOADED | STATE_STOPPED))) {
		code = "busy";
		why = "the session's program is already running; use "
		    "`debugger attach SESSION`";
	} else if (shutting_down || !chan_is_open(&launcher_chan)) {
		code = "try_again";
		why = err_text(ERR_TRY_AGAIN);
	} else if (flags & DBG_RUN_HOST && role_mode != MODE_USER) {
		code = "use_own_daemon";
		why = "processes that are no session's can only be attached to "
		    "by a daemon of their user's own: leave --system and "
		    "--target out";
	} else if (flags & DBG_RUN_HOST && !may_leave_sandbox(p)) {
		code = "not_permitted";
		why = "processes that are no session's can only be attached to "
		    "from this host, without a token, in a debug session of "
		    "their own (allow-sandbox, control)";
	}
	if (why != NULL)
		inst_tell_failed(&p->i, code, why);
	return why == NULL;
}

/* -1 without memory. */
static int
show_program(struct session *s, const char *shown, size_t len)
{
	if (len == 0 || !s->dbg->i.made)
		return 0;
	return command_set(s, shown, len);
}

static void
run_inside(struct dbgproc *p, const struct adapter_order *a, uint32_t flags)
{
	struct session *s = p->i.session;
	uint32_t sandbox = p->sandbox, network = p->network;

	p->elsewhere = (flags & DBG_RUN_HOST) != 0;
	if (p->elsewhere) {
		sandbox = SANDBOX_NONE;
		network = NETWORK_SHARED;
	} else
		p->inside = true;
	s->start.flags = flags & DBG_RUN_TTY || s->on_tty ? START_TTY :
	    START_SPLIT;
	p->i.ordered = true;
	start_ordered(s, a, sandbox, network, p->elsewhere);
}

int
spawn_on_dbg_run(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);
	struct session *s = p->i.session;
	uint32_t flags = msg_get_u32(m);
	struct adapter_order a;
	const char *shown;
	size_t shown_len;

	memset(&a, 0, sizeof(a));
	msg_get_str(m, a.name, sizeof(a.name));
	msg_get_str(m, a.cwd, sizeof(a.cwd));
	a.argv = msg_get_strings(m, &a.argv_len);
	a.envp = msg_get_strings(m, &a.envp_len);
	shown = msg_get_strings(m, &shown_len);
	if (msg_end(m) == -1 || s == NULL || a.argv_len == 0 ||
	    a.argv[0] == '\0' || a.argv_len > ARGS_MAX_BYTES ||
	    a.envp_len > ENV_MAX_BYTES || shown_len > ARGS_MAX_BYTES ||
	    (a.cwd[0] != '\0' && a.cwd[0] != '/') || inst_is_deaf(&p->i) || flags &
	    ~(uint32_t)(DBG_RUN_TTY | DBG_RUN_BESIDE | DBG_RUN_HOST))
		return -1;
	if (!run_allowed(p, flags))
		return 0;
	(void)snprintf(s->view.debugger_adapter,
	    sizeof(s->view.debugger_adapter), "%s", a.name);
	if (flags & DBG_RUN_BESIDE)
		run_beside(p, &a);
	else if (show_program(s, shown, shown_len) == -1)
		inst_tell_failed(&p->i, "internal_error", "out of memory");
	else
		run_inside(p, &a, flags);
	return 0;
}

void
dbg_ran(struct session *s, uint32_t pid, uint32_t inner_pid)
{
	struct dbgproc *p = s->dbg;
	int *fds = s->start.fds;

	session_set_state(s, STATE_DEBUGGING);
	/* nobody is left who could make use of it */
	if (p == NULL || p->i.life != INST_UP) {
		stop_kill(s);
		return;
	}
	p->on = true;
	s->elsewhere = p->elsewhere;
	inst_tell_ring(&p->i);
	tell_fd(p, DBG_FD_IN, take(&fds[RUN_FD_ADAPTER_IN]));
	tell_fd(p, DBG_FD_OUT, take(&fds[RUN_FD_ADAPTER_OUT]));
	tell_fd(p, DBG_FD_ERR, take(&fds[RUN_FD_ADAPTER_ERR]));
	tell_ran(p, pid, inner_pid);
}

void
dbg_run_failed(struct session *s, enum err err, const char *why)
{
	struct dbgproc *p = s->dbg;

	if (p != NULL && p->i.life == INST_UP)
		inst_tell_failed(&p->i, err == ERR_EXEC_FAILED ? "adapter_missing" :
		    err_code(err), why == NULL ? err_text(err) : why);
	else if (p == NULL && s->forget)
		expiry_ended(s);
}

/* The program goes on without an adapter if that has let it go. */
static void
on_leave(void *arg)
{
	struct dbgproc *p = arg;
	struct session *s = p->i.session;

	if (p->phase != DBG_IDLE) {
		stop_kill(s);
		return;
	}
	p->on = false;
	if (s->state == STATE_DEBUGGING)
		session_set_state(s, STATE_RUNNING);
	activity_note(s->owner, &s->id, "debugger detached");
	tell_ended(p);
	dbg_show(s);
}

void
dbg_adapter_ended(struct session *s, bool by_signal, uint32_t value)
{
	struct dbgproc *p = s->dbg;

	if (p == NULL || !p->on) {
		stop_kill(s);
		return;
	}
	p->reported = true;
	p->code = by_signal ? 0 : value;
	p->signal = by_signal ? value : 0;
	loop_timer_set(&p->leave, LEAVE_MS, on_leave, p);
}

void
dbg_tree_gone(struct session *s)
{
	struct dbgproc *p = s->dbg;

	if (p == NULL)
		return;
	loop_timer_unset(&p->leave);
	dbg_seek_end(p);
	if (p->beside.on && p->beside.fds[ATTACH_FD_PIDFD] != -1)
		(void)send_signal(s, 0, p->beside.fds[ATTACH_FD_PIDFD], SIGKILL,
		    SIGNAL_ONE);
	if (p->beside.on) {
		beside_close(&p->beside);
		tell_beside_ended(p);
	} else if (p->on) {
		p->on = false;
		tell_ended(p);
	}
}

/* -- other orders --------------------------------------------------------- */

void
dbg_kill(struct dbgproc *p)
{
	struct session *s = p->i.session;

	if (p->on || (p->i.ordered && p->beside.serial == 0))
		stop_kill(s);
	if (p->beside.on && p->beside.fds[ATTACH_FD_PIDFD] != -1)
		(void)send_signal(s, 0, p->beside.fds[ATTACH_FD_PIDFD], SIGKILL,
		    SIGNAL_ONE);
}

int
spawn_on_dbg_kill(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);

	if (msg_end(m) == -1 || p->i.session == NULL)
		return -1;
	dbg_kill(p);
	return 0;
}

int
spawn_on_dbg_drain(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);
	struct msg_out *o;

	if (msg_end(m) == -1 || p->i.session == NULL || inst_is_deaf(&p->i))
		return -1;
	output_take(p->i.session);
	o = msg_new(MSG_DBG_DRAINED, &p->i.session->id, 0, 0);
	msg_put_u64(o, p->i.session->ring.hdr == NULL ? 0 :
	    ring_total(&p->i.session->ring));
	(void)chan_send(&p->i.chan, o, -1);
	return 0;
}

void
dbg_run_lost(struct dbgproc *p)
{
	if (p->beside.serial == 0)
		return;
	beside_close(&p->beside);
	inst_tell_failed(&p->i, "try_again", err_text(ERR_TRY_AGAIN));
}

void
dbg_run_end(struct dbgproc *p)
{
	loop_timer_unset(&p->leave);
	dbg_kill(p);
	beside_over(p);
	beside_close(&p->beside);
	p->on = p->i.ordered = false;
}
