/* SPDX-License-Identifier: ISC */
/* A debugger's process: what is told of it, and what it is told first. */
#include <stdio.h>
#include <string.h>

#include "debugger.h"
#include "gdbserver.h"
#include "spawner/run/runspec.h"
#include "spawner/session/push.h"
#include "tracer.h"
#include "wire/debugger_audit.h"
#include "wire/handlers.h"
#include "wire/insthello.h"
#include "wire/role.h"

struct dbgproc *
dbg_of(const struct msg *m)
{
	return (struct dbgproc *)inst_of(m);
}

void
dbg_show(struct session *s)
{
	struct session_view *v = &s->view;

	v->debugger = s->dbg != NULL;
	v->debugger_phase = s->dbg == NULL ? 0 : (uint32_t)s->dbg->phase;
	if (s->dbg == NULL) {
		v->debugger_adapter[0] = '\0';
		v->debugger_current = false;
	} else
		s->dbg->i.unshown = false;
	if (session_is_shown(s))
		push_session(s);
}

/* -- the beginning -------------------------------------------------------- */

static bool
is_fit(struct inst_start *st, struct session *s)
{
	if (trc_is_in_way(s, &st->asker))
		return false;
	if (s->gdb.phase == GDB_NONE)
		return true;
	answer(&st->asker, &s->id, ERR_ALREADY_DEBUGGING, NULL);
	return false;
}

static struct inst *
of_session(const struct session *s)
{
	return s->dbg == NULL ? NULL : &s->dbg->i;
}

static void
begun(struct inst *i, const struct inst_start *st)
{
	struct dbgproc *p = (struct dbgproc *)i;
	size_t n;

	for (n = 0; n < ATTACH_FD_COUNT; n++)
		p->beside.fds[n] = -1;
	p->beside.pid_io = (struct loop_io)LOOP_IO_INIT;
	p->host = i->made && dbg_is_at_home(&st->asker);
	p->sandbox = st->sandbox;
	p->network = st->network;
	i->session->dbg = p;
	/* an owner with a debugger does not mean another user's */
	if (st->asker.owner == i->session->owner ||
	    !dbg_has_current(i->session->owner))
		dbg_use(p);
}

/* "name\tcommand" lines. */
static void
hello_adapters(struct dbg_hello *h)
{
	const char *p = settings.debugger_adapters, *tab, *nl;
	struct dbg_adapter *a;

	while (h->nadapters < HELLO_ADAPTERS &&
	    (tab = strchr(p, '\t')) != NULL &&
	    (nl = strchr(tab, '\n')) != NULL) {
		a = &h->adapters[h->nadapters++];
		(void)snprintf(a->name, sizeof(a->name), "%.*s",
		    (int)(tab - p), p);
		(void)snprintf(a->command, sizeof(a->command), "%.*s",
		    (int)(nl - tab - 1), tab + 1);
		p = nl + 1;
	}
}

static void
greet(struct inst *i)
{
	static struct dbg_hello h;
	struct session *s = i->session;
	struct msg_out *o = msg_new(MSG_DBG_HELLO, &s->id, 0, 0);

	memset(&h, 0, sizeof(h));
	inst_greet(&h.inst, s, !s->dbg->i.made);
	if (s->state & STATE_ALIVE && s->view.pid != 0)
		h.inst.target_pid = s->inner_pid;
	h.image = !s->view.command && !s->view.bundle;
	h.narrow = s->narrow && !runspec_has_file(s, s->view.pid != 0 ?
	    s->sandbox : s->dbg->sandbox);
	h.on_tty = s->on_tty;
	h.initialize_s = (uint32_t)settings.dap_initialize;
	h.request_s = (uint32_t)settings.dap_request;
	h.await_s = (uint32_t)settings.dap_await;
	h.max_events = (uint32_t)settings.debugger_output_events;
	h.max_bytes = settings.debugger_output_bytes;
	hello_adapters(&h);
	dbg_hello_put(o, &h);
	(void)chan_send(&i->chan, o, -1);
}

/* -- the end -------------------------------------------------------------- */

static uint64_t
idle(void)
{
	return settings.debugger_idle;
}

static bool
is_in_use(const struct inst *i)
{
	const struct dbgproc *p = (const struct dbgproc *)i;

	return p->on || p->beside.on || p->i.ordered;
}

static void
give_up(struct inst *i)
{
	dbg_seek_end((struct dbgproc *)i);
}

static void
end(struct inst *i)
{
	struct dbgproc *p = (struct dbgproc *)i;

	loop_timer_unset(&p->seek);
	dbg_run_end(p);
	i->session->dbg = NULL;
}

static void
lost(struct inst *i, struct session *s)
{
	dbg_show(s);
	if (i->made)
		inst_forsake(s);
}

static bool
left(struct inst *i, struct session *s)
{
	s->forget = i->made;
	return s->forget && s->stub_fd == -1 && s->state != STATE_STARTING;
}

void
dbg_session_gone(struct session *s)
{
	if (s->dbg != NULL)
		inst_end(&s->dbg->i, ERR_NOT_FOUND, NULL);
}

void
dbg_launcher_lost(void)
{
	struct inst *i;

	LIST_FOREACH(i, &insts, next)
		if (i->kind == &dbg_kind && i->life == INST_UP) {
			dbg_run_lost((struct dbgproc *)i);
			dbg_seek_lost((struct dbgproc *)i);
		}
}

static const char *
dbg_action_text(uint32_t action)
{
	return dbg_action_name((enum dbg_action)action);
}

static bool
is_often(uint32_t action)
{
	return dbg_action_is_often((enum dbg_action)action);
}

static bool
is_too_far(const struct inst *i, const struct asker *a)
{
	return dbg_is_too_far((const struct dbgproc *)i, a);
}

const struct inst_kind dbg_kind = {
	.type = INST_DEBUGGER,
	.start = "DEBUGGER start",
	.size = sizeof(struct dbgproc),
	.order = { "debugger", ROLE_DEBUGGER, ERR_DEBUGGER_LOST, inst_came,
	    inst_failed },
	.leaf = LEAF_DEBUGGER,
	.refused = ERR_DEBUGGER_REFUSED,
	.none = ERR_NO_DEBUGGER,
	.answer_max = DBG_ANSWER_MAX,
	.nactions = DBG_ACTION_COUNT,
	.action_name = dbg_action_text,
	.is_often = is_often,
	.asked = dbg_asked,
	.absent = dbg_absent,
	.current = dbg_current,
	.is_fit = is_fit,
	.of = of_session,
	.begun = begun,
	.up = greet,
	.show = dbg_show,
	.is_too_far = is_too_far,
	.idle = idle,
	.is_in_use = is_in_use,
	.give_up = give_up,
	.end = end,
	.lost = lost,
	.left = left,
};
