/* SPDX-License-Identifier: ISC */
/*
 * Ending a session: SIGTERM to its tree, after stop-timeout SIGKILL to its
 * tree, at last SIGKILL to its first process.  Signals go by pidfd through
 * the launcher, which alone may send them.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "exit.h"
#include "run_hooks.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "stop.h"
#include "wire/handlers.h"
#include "wire/role.h"

/* Between the stages after SIGTERM. */
#define KILL_MS		2000
/* Between SIGHUP and SIGTERM: shells go by the one, and not by the other. */
#define HUP_MS		1000
/* How soon to try again when there is no launcher just now. */
#define RETRY_MS	200
#define SHUTDOWN_SECONDS 3
#define WAITING_MAX	64
#define SIGNALS_MAX	64
#define SIGNALS_OWN	16	/* of one user */

/* SIGNALs whose SIGNAL_SENT has not come. */
struct pending {
	struct asker	 asker;
	struct sid	 id;
	uint64_t	 serial;	/* 0 = free */
};

static struct pending	 pending[SIGNALS_MAX];

static void	on_stage_over(void *arg);

/* -- the stages -- */

static const struct {
	int		 signal;
	uint32_t	 whom;
} stages[] = {
	[STOP_HUP] = { SIGHUP, SIGNAL_TREE_HUP },
	[STOP_TERM] = { SIGTERM, SIGNAL_TREE_TERM },
	[STOP_KILL] = { SIGKILL, SIGNAL_TREE_KILL },
	[STOP_STUB] = { SIGKILL, SIGNAL_ONE },
};

static uint64_t
stage_ms(enum stop_stage stage)
{
	uint64_t seconds = settings.stop_timeout;

	if (stage == STOP_HUP)
		return HUP_MS;
	if (stage != STOP_TERM)
		return KILL_MS;
	if (shutting_down && seconds > SHUTDOWN_SECONDS)
		seconds = SHUTDOWN_SECONDS;
	return seconds * 1000;
}

static void
answer_waiting(struct session *s, enum err code)
{
	struct asker *waiting = s->stop.waiting;
	size_t i, n = s->stop.nwaiting;

	s->stop.waiting = NULL;
	s->stop.nwaiting = 0;
	for (i = 0; i < n; i++)
		answer(&waiting[i], &s->id, code, code == ERR_KILL_FAILED ?
		    "the session's processes do not end; one may hang in the "
		    "kernel" : NULL);
	free(waiting);
}

static void
enter_stage(struct session *s, enum stop_stage stage)
{
	uint64_t ms = stage_ms(stage);

	if (exit_now(s))
		return;
	if (stage == STOP_FAILED) {
		log_warnx("session %s does not end", s->text);
		s->stop.stage = STOP_NONE;
		answer_waiting(s, ERR_KILL_FAILED);
		return;
	}
	s->stop.stage = stage;
	s->stop.serial = next_serial();
	if (send_signal(s, s->stop.serial, s->stub_fd, stages[stage].signal,
	    stages[stage].whom) == -1) {
		/* the parent is about to start another launcher */
		s->stop.stage = stage - 1;
		ms = RETRY_MS;
	}
	/* where there is no pid namespace the debugger is not in the tree */
	if (s->gdb.fds[ATTACH_FD_PIDFD] != -1 && stage != STOP_HUP)
		(void)send_signal(s, 0, s->gdb.fds[ATTACH_FD_PIDFD],
		    stages[stage].signal, SIGNAL_ONE);
	if (stage == STOP_STUB)
		run_hooks->last_stage(s);
	loop_timer_set(&s->stop.timer, ms, on_stage_over, s);
}

static void
on_stage_over(void *arg)
{
	struct session *s = arg;

	enter_stage(s, s->stop.stage + 1);
}

/* The first that is of use to it. */
static enum stop_stage
first_stage(const struct session *s)
{
	return s->tty != NULL ? STOP_HUP : STOP_TERM;
}

void
stop_hang_up(struct session *s)
{
	if (s->stub_fd != -1 && s->stop.stage == STOP_NONE)
		enter_stage(s, first_stage(s));
}

void
stop_kill(struct session *s)
{
	if (s->stub_fd != -1 && s->stop.stage < STOP_KILL)
		enter_stage(s, STOP_KILL);
}

void
stop_tree_gone(struct session *s)
{
	loop_timer_unset(&s->stop.timer);
	s->stop.stage = STOP_NONE;
	run_hooks->stop_told(s);
	answer_waiting(s, ERR_OK);
}

static int
stop_request(struct msg *m, const char *command, enum stop_stage stage)
{
	struct session *s = session_find(&m->hdr.session);
	struct asker a, *more;

	if (msg_end(m) == -1 || !asker_init(&a, m, command))
		return -1;
	more = s->stop.nwaiting == WAITING_MAX ? NULL :
	    reallocarray(s->stop.waiting, s->stop.nwaiting + 1,
	    sizeof(*more));
	if (more == NULL) {
		answer(&a, &s->id, ERR_BUSY, NULL);
		return 0;
	}
	s->stop.waiting = more;
	more[s->stop.nwaiting++] = a;
	if (stage == STOP_TERM)
		stop_hang_up(s);
	else if (s->stop.stage < stage)
		enter_stage(s, stage);
	return 0;
}

int
spawn_on_stop(struct msg *m)
{
	return stop_request(m, "STOP", STOP_TERM);
}

int
spawn_on_kill(struct msg *m)
{
	return stop_request(m, "KILL", STOP_KILL);
}

/* -- single signals -- */

static struct pending *
pending_find(uint64_t serial)
{
	size_t i;

	for (i = 0; i < SIGNALS_MAX; i++)
		if (pending[i].serial == serial)
			return &pending[i];
	return NULL;
}

/* A free one for a user who does not have too many; NULL. */
static struct pending *
pending_free(const struct owner *o)
{
	size_t i, n = 0;

	for (i = 0; i < SIGNALS_MAX; i++)
		n += pending[i].serial != 0 && pending[i].asker.owner == o;
	return n < SIGNALS_OWN ? pending_find(0) : NULL;
}

int
spawn_on_signal(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t sig = msg_get_u32(m);
	struct pending *p;
	struct asker a;

	if (msg_end(m) == -1 || sig == 0 || sig >= NSIG ||
	    !asker_init(&a, m, "SIGNAL"))
		return -1;
	p = pending_free(a.owner);
	if (s->view.pid == 0 && s->view.exited_ns == 0)
		answer(&a, &s->id, ERR_NOT_RUNNING, "its debugger has not "
		    "started the program yet, or not said which process it "
		    "is; stop or kill ends both");
	else if (s->view.pid == 0)
		answer(&a, &s->id, ERR_NOT_RUNNING, "the program has ended; "
		    "stop or kill ends what it left running");
	else if (s->elsewhere && run_hooks->too_far(s, &a))
		answer(&a, &s->id, ERR_NOT_PERMITTED, "the process is no "
		    "session's: its user's connections from this host, "
		    "without a token, reach it");
	else if (p == NULL)
		answer(&a, &s->id, ERR_BUSY, "too many signals of yours are "
		    "under way; send this one again");
	else {
		*p = (struct pending){ a, s->id, next_serial() };
		if (send_signal(s, p->serial, s->target_fd, (int)sig,
		    SIGNAL_ONE) == 0)
			return 0;
		p->serial = 0;
		answer(&a, &s->id, ERR_TRY_AGAIN, NULL);
	}
	return 0;
}

static void
stop_signal_sent(struct session *s, uint32_t errnum)
{
	/* a tree that is gone already is about to be noticed */
	if (errnum == 0 || errnum == ESRCH)
		return;
	errno = (int)errnum;
	log_warn("signal to session %s", s->text);
	/* what SIGTERM could not reach, the next stage may */
	loop_timer_set(&s->stop.timer, 0, on_stage_over, s);
}

int
spawn_on_signal_sent(struct msg *m)
{
	struct pending *p = m->hdr.request == 0 ? NULL :
	    pending_find(m->hdr.request);
	struct session *s = session_find(&m->hdr.session);
	uint32_t errnum = msg_get_u32(m);

	if (msg_end(m) == -1 || errnum > INT32_MAX)
		return -1;
	if (p != NULL) {
		p->serial = 0;
		if (errnum == 0)
			answer(&p->asker, &p->id, ERR_OK, NULL);
		else
			answer(&p->asker, &p->id, errnum == ESRCH ?
			    ERR_NOT_RUNNING : ERR_KILL_FAILED, NULL);
	} else if (s != NULL && s->stop.stage != STOP_NONE &&
	    s->stop.serial == m->hdr.request)
		stop_signal_sent(s, errnum);
	else if (s != NULL)
		run_hooks->signal_sent(s, m->hdr.request);
	return 0;
}

void
stop_launcher_lost(void)
{
	size_t i;

	for (i = 0; i < SIGNALS_MAX; i++) {
		if (pending[i].serial == 0)
			continue;
		pending[i].serial = 0;
		answer(&pending[i].asker, &pending[i].id, ERR_TRY_AGAIN, NULL);
	}
	/* stages go on by their timers: a signal that was lost is repeated */
}

void
stop_all(void)
{
	struct session *s;

	SESSION_FOREACH(s)
		if ((s->state & STATE_ALIVE) && s->stop.stage == STOP_NONE)
			enter_stage(s, first_stage(s));
}
