/* SPDX-License-Identifier: ISC */
/*
 * Reports of a debugger about its program: its state, which process it is, how
 * it ended.  The process is the session's from then on, for signals and other
 * debuggers; so the launcher checks that it belongs to the session.
 */
#include <signal.h>
#include <time.h>

#include "debugger.h"
#include "spawner/client/activity.h"
#include "spawner/link/peers.h"
#include "wire/fdkind.h"
#include "wire/handlers.h"
#include "wire/role.h"

/* How soon to ask again when there is no launcher just now. */
#define RETRY_MS	200
/* Between two: a program has one pid, and the launcher is everybody's. */
#define SEEK_MS		50

static void
seek_over(struct dbgproc *p)
{
	loop_timer_unset(&p->seek);
	p->sought = 0;
	p->sought_serial = 0;
	p->i.unheard = false;
	inst_listen(&p->i);
}

static void
seek(void *arg)
{
	struct dbgproc *p = arg;
	struct session *s = p->i.session;
	int fd = s->stub_fd == -1 ? -1 : fd_copy(s->stub_fd);
	struct msg_out *o;

	if (fd == -1) {
		seek_over(p);
		return;
	}
	p->sought_serial = next_serial();
	p->sought_ms = loop_now_ms();
	o = msg_new(MSG_FIND, &s->id, 0, p->sought_serial);
	msg_put_u32(o, p->sought);
	msg_put_u32(o, s->owner->uid);
	/* a program outside of sessions was named by the user */
	msg_put_u32(o, role_mode == MODE_USER && p->elsewhere && !p->inside);
	if (chan_send(&launcher_chan, o, fd) == -1)
		dbg_seek_lost(p);
}

static void
seek_soon(struct dbgproc *p)
{
	if (loop_now_ms() - p->sought_ms >= SEEK_MS)
		seek(p);
	else
		loop_timer_set(&p->seek, SEEK_MS, seek, p);
}

void
dbg_seek_lost(struct dbgproc *p)
{
	if (p->sought != 0)
		loop_timer_set(&p->seek, RETRY_MS, seek, p);
}

void
dbg_seek_end(struct dbgproc *p)
{
	if (p->sought != 0)
		seek_over(p);
}

static struct dbgproc *
seeker(const struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);

	return s != NULL && s->dbg != NULL && m->hdr.request != 0 &&
	    s->dbg->sought_serial == m->hdr.request ? s->dbg : NULL;
}

int
spawn_on_found(struct msg *m)
{
	struct dbgproc *p = seeker(m);
	uint32_t inner_pid = msg_get_u32(m);
	struct session *s;

	if (msg_end(m) == -1 || inner_pid == 0 || inner_pid > INT32_MAX ||
	    fdkind_check(FD_PIDFD, m->fd) != NULL)
		return -1;
	/* its debugger, or all of it, has ended meanwhile */
	if (p == NULL)
		return 0;
	s = p->i.session;
	if (p->on && s->view.exited_ns == 0) {
		fd_close(&s->target_fd);
		s->target_fd = msg_take_fd(m);
		s->inner_pid = inner_pid;
		s->view.pid = (int32_t)p->sought;
		inst_show_soon(&p->i);
	}
	seek_over(p);
	return 0;
}

int
spawn_on_not_found(struct msg *m)
{
	struct dbgproc *p = seeker(m);

	if (msg_end(m) == -1)
		return -1;
	if (p != NULL)
		seek_over(p);
	return 0;
}

static void
program_ended(struct session *s, uint32_t code, uint32_t sig)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	if (s->view.exited_ns == 0)
		s->view.exited_ns = (int64_t)ts.tv_sec * 1000000000 +
		    ts.tv_nsec;
	s->view.pid = 0;
	s->view.signal = sig;
	s->view.has_exit_code = sig == 0;
	s->view.exit_code = sig == 0 ? code : 0;
	if (sig == 0)
		activity_note(s->owner, &s->id, "ended with exit code %u",
		    code);
	else
		activity_note(s->owner, &s->id, "ended by signal %u", sig);
}

/*
 * Does the debugger's report tell the program's end?  The stub reports the end
 * of a program that ran before the debugger, but not of one that a debugger has
 * begun, even if the debugger has let it go meanwhile; that report may come
 * when the whole tree has gone already.
 */
static bool
wants_end(const struct session *s)
{
	const struct session_view *v = &s->view;

	return v->exited_ns == 0 ? s->adapter :
	    !v->has_exit_code && v->signal == 0;
}

int
spawn_on_dbg_state(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);
	struct session *s = p->i.session;
	uint32_t phase = msg_get_u32(m), pid = msg_get_u32(m);
	uint32_t ended = msg_get_u32(m), code = msg_get_u32(m);
	uint32_t sig = msg_get_u32(m);
	bool changed;

	if (msg_end(m) == -1 || phase >= DBG_PHASES || pid > INT32_MAX ||
	    ended > 1 || code > 255 || sig >= NSIG || s == NULL)
		return -1;
	changed = p->phase != phase;
	p->phase = phase;
	if (ended && wants_end(s)) {
		program_ended(s, code, sig);
		changed = true;
	}
	if (changed)
		inst_show_soon(&p->i);
	/* it is heard again when that is known: STATUS is no older than it */
	if (p->on && !ended && pid != 0 && s->view.exited_ns == 0 &&
	    s->view.pid != (int32_t)pid) {
		p->sought = pid;
		/* what is found of another number does not count */
		p->sought_serial = 0;
		p->i.unheard = true;
		inst_listen(&p->i);
		seek_soon(p);
	}
	return 0;
}
