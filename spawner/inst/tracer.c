/* SPDX-License-Identifier: ISC */
/*
 * A tracer's process.  The tracing outlives it: a session is traced until a
 * user stops the tracing or deletes the session, and if the tracer dies before,
 * the next request starts another one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbserver.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/run/expiry.h"
#include "spawner/session/push.h"
#include "tracer.h"
#include "wire/handlers.h"
#include "wire/insthello.h"
#include "wire/role.h"
#include "wire/tracer_audit.h"

/* To take its probes out, and to remove a timeline that nobody wants. */
#define LEAVE_MS	3000

struct trcproc *
trc_of(const struct msg *m)
{
	return (struct trcproc *)inst_of(m);
}

void
trc_show(struct session *s)
{
	struct session_view *v = &s->view;

	v->tracer = s->traced.on;
	v->tracer_phase = s->trc != NULL ? (uint32_t)s->trc->phase :
	    s->state & STATE_ALIVE ? TRC_IDLE : TRC_OVER;
	v->tracer_functions = s->trc == NULL ? 0 : s->trc->functions;
	if (s->trc != NULL)
		s->trc->i.unshown = false;
	if (session_is_shown(s))
		push_session(s);
}

bool
trc_is_in_way(const struct session *s, struct asker *a)
{
	if (s->trc == NULL)
		return false;
	answer(a, &s->id, ERR_ALREADY_DEBUGGING, "the session has a tracer, "
	    "and a program can have only one of the two; end that first "
	    "(trace stop)");
	return true;
}

/* -- the beginning -------------------------------------------------------- */

static bool
is_fit(struct inst_start *st, struct session *s)
{
	if (s->dbg == NULL && s->gdb.phase == GDB_NONE && !s->adapter)
		return true;
	answer(&st->asker, &s->id, ERR_ALREADY_DEBUGGING, "the session has a "
	    "debugger, and a program can have only one of the two; detach it "
	    "first");
	return false;
}

static struct inst *
of_session(const struct session *s)
{
	return s->trc == NULL ? NULL : &s->trc->i;
}

static void
begun(struct inst *i, const struct inst_start *st)
{
	struct trcproc *p = (struct trcproc *)i;
	struct session *s = i->session;

	LIST_INIT(&p->symprocs);
	s->trc = p;
	/* what cannot be answered by it was begun by another one */
	i->began = s->traced.on;
	if (s->traced.on)
		i->made = s->traced.made;
	else {
		s->traced.on = true;
		s->traced.made = i->made;
		s->traced.sandbox = st->sandbox;
		s->traced.network = st->network;
	}
	trc_show(s);
}

static void
greet(struct inst *i)
{
	static struct trc_hello h;
	struct session *s = i->session;
	struct msg_out *o = msg_new(MSG_TRC_HELLO, &s->id, 0, 0);

	memset(&h, 0, sizeof(h));
	inst_greet(&h.inst, s, !s->traced.made || s->traced.path != NULL);
	h.calls_bytes = settings.tracer_calls;
	h.output_bytes = settings.tracer_output;
	if (settings.tracer_user != LIMIT_UNLIMITED)
		h.user_bytes = settings.tracer_user;
	h.budget = settings.tracer_budget == 0 ? LIMIT_UNLIMITED :
	    settings.tracer_budget;
	h.made = s->traced.made;
	h.nfiles = s->traced.files[0] != -1 ? TRC_FILES : 0;
	h.forget = s->traced.forget;
	h.resumed = i->began && !h.forget &&
	    (h.nfiles > 0 || s->traced.name[0] != '\0');
	(void)snprintf(h.timeline, sizeof(h.timeline), "%s", s->traced.name);
	if (s->state & STATE_ALIVE && s->view.pid > 0) {
		h.inst.target_pid = (uint32_t)s->view.pid;
		h.started_ns = (uint64_t)s->view.started_ns;
	}
	trc_hello_put(o, &h);
	(void)chan_send(&i->chan, o, -1);
	if (h.nfiles > 0)
		trc_tell_files((struct trcproc *)i);
	inst_tell_ring(i);
}

/* -- the end -------------------------------------------------------------- */

/* The timeline is not wanted any more. */
static void
traced_over(struct session *s)
{
	struct traced *t = &s->traced;
	size_t i;

	/* of a gigabyte, perhaps */
	for (i = 0; i < TRC_FILES; i++)
		if (t->files[i] != -1) {
			sweep(NULL, t->files[i]);
			t->files[i] = -1;
		}
	free(t->path);
	t->path = NULL;
	t->name[0] = '\0';
	t->on = t->made = false;
}

static uint64_t
idle(void)
{
	return settings.tracer_idle;
}

static bool
is_in_use(const struct inst *i)
{
	const struct trcproc *p = (const struct trcproc *)i;

	return p->phase != TRC_IDLE || p->i.ordered || p->held;
}

static void
end(struct inst *i)
{
	struct trcproc *p = (struct trcproc *)i;

	trc_run_end(p);
	trc_symbols_end(p);
	i->session->trc = NULL;
}

/* The next request brings another one, unless this one never came to much. */
static void
lost(struct inst *i, struct session *s)
{
	bool made = s->traced.made;

	if (s->traced.forget) {
		trc_forget_failed(s);
		return;
	}
	if (!i->began) {
		traced_over(s);
		if (made)
			inst_forsake(s);
	}
	trc_show(s);
}

static bool
left(struct inst *i, struct session *s)
{
	bool ended = s->stub_fd == -1 && s->state != STATE_STARTING;
	bool made = s->traced.made;

	if (s->traced.forget) {
		trc_forgotten(s);
		return false;
	}
	traced_over(s);
	/*
	 * Otherwise the session goes on by itself.  A session that never ran is
	 * deleted when it can be, and so is a session that has ended: the
	 * tracer may know of the end first.
	 */
	if (made && !ended && (!i->began || s->state == STATE_STARTING ||
	    ((struct trcproc *)i)->phase == TRC_OVER))
		s->forget = true;
	if (!made && s->state == STATE_STOPPED)
		expiry_ended(s);
	return made && ended;
}

void
trc_session_gone(struct session *s)
{
	if (s->trc != NULL)
		inst_end(&s->trc->i, ERR_NOT_FOUND, NULL);
	if (s->traced.name[0] != '\0' && !s->traced.forget)
		trc_forget(s->owner, s->traced.name);
	traced_over(s);
}

/* -- messages ------------------------------------------------------------- */

/* A timeline that is read stays. */
static void
asked(struct session *s, const struct asker *a, bool use)
{
	(void)a;
	(void)use;
	expiry_touch(s);
}

static void
absent(struct session *s, struct asker *a, const char *json, size_t len)
{
	if (s->traced.on)
		inst_start_again(&trc_kind, s, a, json, len);
	else
		answer(a, &s->id, ERR_NO_TRACER, NULL);
}

int
spawn_on_trc_state(struct msg *m)
{
	struct trcproc *p = trc_of(m);
	uint32_t phase = msg_get_u32(m), functions = msg_get_u32(m);
	uint32_t pid = msg_get_u32(m);

	if (msg_end(m) == -1 || phase >= TRC_PHASES || pid > INT32_MAX ||
	    p->i.session == NULL)
		return -1;
	if (p->phase != phase || p->functions != functions) {
		p->phase = phase;
		p->functions = functions;
		inst_show_soon(&p->i);
	}
	return 0;
}

/* The name is not a path, and the tracer that is told it runs as the owner. */
int
spawn_on_trc_named(struct msg *m)
{
	struct trcproc *p = trc_of(m);
	struct session *s = p->i.session;
	char name[sizeof(s->traced.name)];

	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1 || s == NULL || strchr(name, '/') != NULL)
		return -1;
	memcpy(s->traced.name, name, sizeof(name));
	return 0;
}

static const char *
trc_action_text(uint32_t action)
{
	return trc_action_name((enum trc_action)action);
}

static bool
is_often(uint32_t action)
{
	return action == TRC_ACTION_TRACE || action == TRC_ACTION_EXPORT;
}

const struct inst_kind trc_kind = {
	.type = INST_TRACER,
	.start = "TRACER start",
	.numbered = true,
	.size = sizeof(struct trcproc),
	.order = { "tracer", ROLE_TRACER, ERR_TRACER_LOST, inst_came,
	    inst_failed },
	.leaf = LEAF_TRACER,
	.refused = ERR_TRACER_REFUSED,
	.answer_max = TRC_ANSWER_MAX,
	.leave_ms = LEAVE_MS,
	.nactions = TRC_ACTION_COUNT,
	.action_name = trc_action_text,
	.is_often = is_often,
	.asked = asked,
	.absent = absent,
	.is_fit = is_fit,
	.of = of_session,
	.begun = begun,
	.up = greet,
	.show = trc_show,
	.idle = idle,
	.is_in_use = is_in_use,
	.end = end,
	.lost = lost,
	.left = left,
};
