/* SPDX-License-Identifier: ISC */
/*
 * Programs that a tracer has the session run: as any other there, but stopped
 * at their first instruction until the tracer lets them go.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/run/command.h"
#include "spawner/run/expiry.h"
#include "spawner/run/start.h"
#include "spawner/run/stop.h"
#include "tracer.h"
#include "wire/handlers.h"

/* How soon to try again when there is no launcher just now. */
#define RETRY_MS	200
/* An honest one asks for files once in a timeline. */
#define WANTED_MAX	8

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	0x0008U
#endif

/* -- the order ------------------------------------------------------------ */

/* The path of what is traced there; NULL = it has none. */
static const char *
traced_path(const struct session *s)
{
	if (s->traced.path != NULL)
		return s->traced.path;
	/* attached to: one that was made to run has nothing to run yet */
	return s->view.command && !s->traced.made ? s->program : NULL;
}

/* Another session of the same owner that traces the same program. */
static const struct session *
tracer_of_program(const struct session *s, const char *path)
{
	const struct session *o;

	SESSION_FOREACH(o)
		if (o != s && o->owner == s->owner && o->traced.on &&
		    traced_path(o) != NULL &&
		    strcmp(traced_path(o), path) == 0)
			return o;
	return NULL;
}

static bool
is_unique(struct trcproc *p, const char *path)
{
	const struct session *other = tracer_of_program(p->i.session, path);
	char why[EXEC_PATH_MAX + 200];

	if (other == NULL)
		return true;
	(void)snprintf(why, sizeof(why), "Session already active for this "
	    "binary. Call debug_stop first before relaunching. It is %s, of "
	    "%.*s.", other->view.name[0] != '\0' ? other->view.name :
	    other->text, EXEC_PATH_MAX, path);
	inst_tell_failed(&p->i, "SESSION_EXISTS", why);
	return false;
}

static bool
run_allowed(struct trcproc *p, const struct adapter_order *a)
{
	struct session *s = p->i.session;
	const char *code = "busy", *why = NULL;

	if (p->i.ordered)
		why = "a program is being started already";
	else if (!(s->state & (STATE_LOADED | STATE_STOPPED)))
		why = "the session is already running";
	else if (shutting_down || !chan_is_open(&launcher_chan)) {
		code = "try_again";
		why = err_text(ERR_TRY_AGAIN);
	} else if (a->argv_len > 0 && !s->traced.made) {
		code = "not_permitted";
		why = "the session has a program of its own";
	} else if (a->argv_len == 0 && s->traced.made &&
	    s->traced.path == NULL) {
		code = "invalid_argument";
		why = "the session has no program yet";
	}
	if (why != NULL)
		inst_tell_failed(&p->i, code, why);
	return why == NULL && (a->argv_len == 0 || is_unique(p, a->argv));
}

/* Sets the program of a session made for a tracer; -1 without memory. */
static int
keep_program(struct session *s, const struct adapter_order *a)
{
	char *path = strdup(a->argv);

	if (path == NULL || command_set(s, a->argv, a->argv_len) == -1) {
		free(path);
		return -1;
	}
	free(s->traced.path);
	s->traced.path = path;
	return 0;
}

int
spawn_on_trc_run(struct msg *m)
{
	struct trcproc *p = trc_of(m);
	struct session *s = p->i.session;
	struct adapter_order a = { .traced = true };
	uint32_t flags;

	msg_get_str(m, a.cwd, sizeof(a.cwd));
	a.argv = msg_get_strings(m, &a.argv_len);
	a.envp = msg_get_strings(m, &a.envp_len);
	flags = msg_get_u32(m);
	if (msg_end(m) == -1 || s == NULL || flags & ~TRC_RUN_FLAGS ||
	    (a.argv_len > 0 && a.argv[0] == '\0') ||
	    a.argv_len > ARGS_MAX_BYTES || a.envp_len > ENV_MAX_BYTES ||
	    (a.cwd[0] != '\0' && a.cwd[0] != '/') || inst_is_deaf(&p->i))
		return -1;
	if (!run_allowed(p, &a))
		return 0;
	if (a.argv_len > 0 && keep_program(s, &a) == -1) {
		inst_tell_failed(&p->i, "internal_error", "out of memory");
		return 0;
	}
	s->start.flags = s->on_tty ? START_TTY : START_SPLIT;
	p->i.ordered = true;
	start_ordered(s, &a, s->traced.sandbox, s->traced.network, false);
	return 0;
}

void
trc_ran(struct session *s, uint32_t pid, uint32_t inner_pid, bool ordered)
{
	struct trcproc *p = s->trc;
	struct msg_out *o;

	/* nobody is left who would let it go */
	if (ordered && (p == NULL || p->i.life != INST_UP)) {
		stop_kill(s);
		return;
	}
	if (p == NULL || p->i.life != INST_UP)
		return;
	p->i.ordered = false;
	p->held = ordered;
	inst_tell_ring(&p->i);
	o = msg_new(MSG_TRC_RAN, &s->id, 0, 0);
	msg_put_u32(o, pid);
	msg_put_u32(o, inner_pid);
	(void)chan_send(&p->i.chan, o, -1);
}

void
trc_run_failed(struct session *s, enum err err, const char *why)
{
	struct trcproc *p = s->trc;

	/* it traces nothing that way, and keeps nobody else from it */
	if (s->traced.made && s->state == STATE_LOADED) {
		free(s->traced.path);
		s->traced.path = NULL;
	}
	if (p != NULL && p->i.life == INST_UP)
		inst_tell_failed(&p->i, err_code(err), why == NULL ? err_text(err) :
		    why);
	else if (p == NULL && s->forget)
		expiry_ended(s);
}

/* -- the run -------------------------------------------------------------- */

static void
let_go(void *arg)
{
	struct trcproc *p = arg;
	struct session *s = p->i.session;

	if (s->target_fd == -1) {
		p->held = false;
		return;
	}
	p->going = next_serial();
	if (send_signal(s, p->going, s->target_fd, SIGCONT, SIGNAL_ONE) == 0)
		return;
	p->going = 0;
	loop_timer_set(&p->let_go, RETRY_MS, let_go, p);
}

void
trc_signal_sent(struct session *s, uint64_t serial)
{
	struct trcproc *p = s->trc;

	if (p == NULL || serial == 0 || p->going != serial)
		return;
	p->going = 0;
	p->held = false;
}

/* A second SIGCONT does nothing; without the first it would stand for ever. */
void
trc_launcher_lost(void)
{
	struct trcproc *p;
	struct inst *i;

	LIST_FOREACH(i, &insts, next) {
		p = (struct trcproc *)i;
		if (i->kind != &trc_kind || i->life != INST_UP ||
		    p->going == 0)
			continue;
		p->going = 0;
		loop_timer_set(&p->let_go, RETRY_MS, let_go, p);
	}
}

int
spawn_on_trc_let_go(struct msg *m)
{
	struct trcproc *p = trc_of(m);

	if (msg_end(m) == -1 || p->i.session == NULL)
		return -1;
	if (p->held && p->going == 0)
		let_go(p);
	return 0;
}

void
trc_tree_gone(struct session *s)
{
	const struct session_view *v = &s->view;
	struct trcproc *p = s->trc;
	struct msg_out *o;

	if (p == NULL)
		return;
	loop_timer_unset(&p->let_go);
	p->held = false;
	p->going = 0;
	if (p->i.life != INST_UP)
		return;
	o = msg_new(MSG_TRC_ENDED, &s->id, 0, 0);
	msg_put_u32(o, v->has_exit_code ? v->exit_code : 0);
	msg_put_u32(o, v->signal);
	p->i.used = loop_now_ms();
	(void)chan_send(&p->i.chan, o, -1);
}

/* A program that never ran goes with it, unless a request had asked for it. */
void
trc_run_end(struct trcproc *p)
{
	struct session *s = p->i.session;

	loop_timer_unset(&p->let_go);
	if (p->held && p->i.began && s->target_fd != -1)
		(void)send_signal(s, 0, s->target_fd, SIGCONT, SIGNAL_ONE);
	else if (p->held)
		stop_kill(s);
	p->held = p->i.ordered = false;
	p->going = 0;
}

/* -- files ---------------------------------------------------------------- */

static int
make_file(void)
{
	int fd = memfd_create("timeline", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	/* kernels before 6.3 do not know the second flag */
	if (fd == -1 && errno == EINVAL)
		fd = memfd_create("timeline", MFD_CLOEXEC);
	return fd;
}

void
trc_tell_files(struct trcproc *p)
{
	struct session *s = p->i.session;
	struct msg_out *o;
	uint32_t i;
	int fd;

	for (i = 0; i < TRC_FILES; i++) {
		fd = fd_copy(s->traced.files[i]);
		if (fd == -1)
			return;
		o = msg_new(MSG_TRC_FILE, &s->id, 0, 0);
		msg_put_u32(o, i);
		(void)chan_send(&p->i.chan, o, fd);
	}
}

/* Memory of a file; it is the spawner's own memfd, so fstat() never blocks. */
static uint64_t
bytes_of(int fd)
{
	struct stat sb;

	return fd == -1 || fstat(fd, &sb) == -1 ? 0 :
	    (uint64_t)sb.st_blocks * 512;
}

/* Files at home are counted there, by the tracer. */
int
spawn_on_trc_want_used(struct msg *m)
{
	struct trcproc *p = trc_of(m);
	const struct session *s = p->i.session, *other;
	struct msg_out *o;
	uint64_t used = 0;
	size_t i;

	if (msg_end(m) == -1 || s == NULL || inst_is_deaf(&p->i))
		return -1;
	SESSION_FOREACH(other)
		for (i = 0; other->owner == s->owner && i < TRC_FILES; i++)
			if (other != s || i != TRC_FILE_CALLS)
				used += bytes_of(other->traced.files[i]);
	o = msg_new(MSG_TRC_USED, &s->id, 0, 0);
	msg_put_u64(o, used);
	(void)chan_send(&p->i.chan, o, -1);
	return 0;
}

int
spawn_on_trc_want_files(struct msg *m)
{
	struct trcproc *p = trc_of(m);
	struct session *s = p->i.session;
	size_t i;

	if (msg_end(m) == -1 || s == NULL || inst_is_deaf(&p->i) ||
	    ++p->nwanted > WANTED_MAX)
		return -1;
	for (i = 0; i < TRC_FILES; i++)
		if (s->traced.files[i] == -1 &&
		    (s->traced.files[i] = make_file()) == -1)
			return -1;
	trc_tell_files(p);
	return 0;
}
