/* SPDX-License-Identifier: ISC */
/*
 * An instrument's process: ordered from the launcher, greeted, watched, ended.
 * Nothing of it is freed while a handler of its own channel may run.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "instrument.h"
#include "spawner/client/activity.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/run/expiry.h"
#include "spawner/run/stop.h"
#include "spawner/session/push.h"
#include "wire/handlers.h"
#include "wire/role.h"

/* How soon to try again when there is no launcher just now. */
#define RETRY_MS	200
/* At the daemon's end, which has not long: to leave, and to be looked for. */
#define LAST_LEAVE_MS	1000
#define LAST_LOOK_MS	10
/* A user's of one kind: more than that are not looked at by anybody. */
#define OF_ONE_MAX	64
/* How often to look again when there is no limit of idleness. */
#define IDLE_LOOK_MS	10000
/* Messages of one that has ended. */
#define WORDS_MAX	4096
/* Lines of one process that are logged. */
#define LINES_MAX	200
/* It changes its mind as fast as it likes; who looks hears of it as often. */
#define SHOW_MS		50
/* In bytes, of netproc's queue: what can wait does; of its own: it is deaf. */
#define SHOW_BACKLOG	((size_t)1 << 20)
#define DEAF_BACKLOG	((size_t)512 * 1024)

struct inst_list insts = LIST_HEAD_INITIALIZER(insts);
static bool	 ending_all;

static void	on_idle(void *arg);
static void	on_bye(void *arg);

struct inst *
inst_of(const struct msg *m)
{
	return (struct inst *)((char *)m->chan - offsetof(struct inst, chan));
}

static struct inst *
inst_of_order(struct inst_order *u)
{
	return (struct inst *)((char *)u - offsetof(struct inst, order));
}

void
inst_show_late(struct inst *i)
{
	if (i->unshown && i->session != NULL)
		i->kind->show(i->session);
}

/*
 * A session with all its variables is large, and netproc is everybody's: it
 * is told at once, and then no more often than it can take.
 */
static void
on_show(void *arg)
{
	struct inst *i = arg;

	if (!i->unshown)
		return;
	if (chan_backlog(&netproc_chan) <= SHOW_BACKLOG)
		i->kind->show(i->session);
	loop_timer_set(&i->show, SHOW_MS, on_show, i);
}

void
inst_show_soon(struct inst *i)
{
	i->unshown = true;
	if (i->show.slot == 0)
		on_show(i);
}

void
inst_listen(struct inst *i)
{
	chan_pause(&i->chan, i->late || i->unheard);
}

bool
inst_is_deaf(const struct inst *i)
{
	return chan_backlog(&i->chan) > DEAF_BACKLOG;
}

/* -- the end -------------------------------------------------------------- */

/*
 * Kills the instrument: if it does not end with its channel, it has been taken
 * over.  False without a launcher just now: nothing else can end it.
 */
static bool
end_process(struct inst *i)
{
	int *pidfd = &i->order.fds[INSTRUMENT_FD_PIDFD];
	struct msg_out *o;

	if (i->ended)
		return true;
	loop_del(&i->pid_io);
	if (*pidfd != -1 &&
	    send_signal(NULL, 0, *pidfd, SIGKILL, SIGNAL_ONE) == -1)
		return false;
	o = msg_new(MSG_SWEEP, &i->id, 0, 0);
	msg_put_u32(o, i->uid);
	msg_put_u32(o, i->kind->leaf);
	if (chan_send(&launcher_chan, o, -1) == -1)
		return false;
	/* at the daemon's end that is not enough: see is_gone() */
	if (!ending_all)
		fd_close(pidfd);
	i->ended = true;
	return true;
}

void
inst_kill(const struct inst *i)
{
	int pidfd = i->order.fds[INSTRUMENT_FD_PIDFD];

	if (pidfd != -1)
		(void)send_signal(NULL, 0, pidfd, SIGKILL, SIGNAL_ONE);
}

/*
 * The launcher, which was asked to end it, ends itself as soon as the spawner
 * says that nothing is left.
 */
static bool
is_gone(struct inst *i)
{
	int *pidfd = &i->order.fds[INSTRUMENT_FD_PIDFD];
	struct pollfd p = { .fd = *pidfd, .events = POLLIN };

	if (*pidfd != -1 && poll(&p, 1, 0) != 1)
		return false;
	fd_close(pidfd);
	return true;
}

static void
on_drop(void *arg)
{
	struct inst *i = arg;

	if (!end_process(i)) {
		loop_timer_set(&i->drop, RETRY_MS, on_drop, i);
		return;
	}
	if (!is_gone(i)) {
		loop_timer_set(&i->drop, LAST_LOOK_MS, on_drop, i);
		return;
	}
	LIST_REMOVE(i, next);
	free(i);
}

static void
part_with(struct inst *i)
{
	bool waits = i->life == INST_UP && i->pid_io.active &&
	    i->kind->leave_ms > 0;
	uint64_t ms = ending_all && i->kind->leave_ms > LAST_LEAVE_MS ?
	    LAST_LEAVE_MS : i->kind->leave_ms;

	i->life = INST_GOING;
	chan_close(&i->chan);
	inst_order_end(&i->order);
	if (!waits)
		loop_del(&i->pid_io);
	loop_timer_unset(&i->timer);
	loop_timer_unset(&i->send_timer);
	loop_timer_unset(&i->show);
	i->kind->end(i);
	i->session = NULL;
	loop_timer_set(&i->drop, waits ? ms : 0, on_drop, i);
}

static void
answer_all(struct inst *i, enum err err, const char *why)
{
	inst_last_send(&i->last, i->kind, &i->id);
	inst_asks_fail(i, err, why);
	inst_audit_end(i);
}

void
inst_end(struct inst *i, enum err err, const char *why)
{
	if (i->life == INST_GOING)
		return;
	part_with(i);
	answer_all(i, err, why);
}

void
inst_forsake(struct session *s)
{
	bool starting = s->state == STATE_STARTING;

	s->forget |= (starting ? s->start.before : s->state) == STATE_LOADED;
	/* else that ends first */
	if (s->stub_fd == -1 && !starting)
		expiry_ended(s);
}

void
inst_end_shown(struct inst *i, enum err err, const char *why)
{
	struct session *s = i->session;

	if (i->life == INST_GOING)
		return;
	part_with(i);
	/* who has been answered sees no older state than that */
	i->kind->lost(i, s);
	answer_all(i, err, why);
}

bool
inst_end_all(void)
{
	struct inst *i;

	ending_all = true;
	LIST_FOREACH(i, &insts, next)
		if (i->life != INST_GOING)
			inst_end_shown(i, i->kind->order.lost, NULL);
	return LIST_EMPTY(&insts);
}

/* It has ended by itself, or has broken the rules. */
static void
lost(struct inst *i, const char *why)
{
	struct session *s = i->session;
	char text[200];

	if (i->life == INST_GOING)
		return;
	/* that it would was what it said last */
	if (i->leaving) {
		on_bye(i);
		return;
	}
	(void)snprintf(text, sizeof(text), "the %s's process has ended%s%s",
	    i->kind->order.name, why == NULL ? "" : ": it sent ",
	    why == NULL ? "" : why);
	activity_note(s->owner, &s->id, "%s", text);
	inst_end_shown(i, i->kind->order.lost, why == NULL ? NULL : text);
}

static void
on_lost(void *arg)
{
	lost(arg, NULL);
}

static void
on_chan_gone(struct channel *c, const char *why)
{
	struct inst *i = (struct inst *)((char *)c -
	    offsetof(struct inst, chan));

	if (i->life == INST_GOING)
		return;
	if (why != NULL)
		log_warnx("the %s of session %s sent %s; it is ended",
		    i->kind->order.name, i->session->text, why);
	/* a send inside a handler may end here: what that holds must stay */
	loop_timer_set(&i->timer, 0, on_lost, i);
}

/*
 * The process's last messages may be answers, which wait for netproc as others
 * do.  A search that the spawner makes for the process is given up, so that it
 * does not hold them up.
 */
static void
on_dead(void *arg)
{
	struct inst *i = arg;
	unsigned int n;

	for (n = 0; n < WORDS_MAX && chan_is_open(&i->chan) && !i->late; n++) {
		if (i->unheard)
			i->kind->give_up(i);
		chan_drain(&i->chan, 1);
	}
	if (i->late && chan_is_open(&i->chan))
		loop_timer_set(&i->timer, RETRY_MS, on_dead, i);
	else
		lost(i, NULL);
}

static void
on_pid(uint32_t events, void *arg)
{
	struct inst *i = arg;

	(void)events;
	if (i->life == INST_GOING) {
		loop_del(&i->pid_io);
		loop_timer_set(&i->drop, 0, on_drop, i);
		return;
	}
	loop_del(&i->pid_io);
	on_dead(i);
}

/* -- the beginning -------------------------------------------------------- */

static unsigned int
count_of(const struct inst_kind *kind, const struct owner *o)
{
	const struct inst *i;
	unsigned int n = 0;

	LIST_FOREACH(i, &insts, next)
		if (i->kind == kind && i->session != NULL &&
		    i->session->owner == o)
			n++;
	return n;
}

/* The cgroup has the session's name: an older one's end must not be ours. */
static bool
end_earlier(const struct inst_kind *kind, const struct session *s)
{
	struct inst *i;

	LIST_FOREACH(i, &insts, next)
		if (i->kind == kind && i->life == INST_GOING &&
		    memcmp(&i->id, &s->id, sizeof(i->id)) == 0 &&
		    !end_process(i))
			return false;
	return true;
}

static struct inst *
inst_new(const struct inst_kind *kind, struct session *s)
{
	struct inst *i = calloc(1, kind->size);

	if (i == NULL)
		return NULL;
	TAILQ_INIT(&i->asked);
	inst_order_init(&i->order, s, &kind->order);
	i->kind = kind;
	i->session = s;
	i->id = s->id;
	i->uid = s->owner->uid;
	i->pid_io = (struct loop_io)LOOP_IO_INIT;
	chan_init(&i->chan, ROLE_SPAWNER, kind->order.role, on_chan_gone,
	    NULL);
	chan_refuse_fds(&i->chan);
	return i;
}

struct inst *
inst_begin(const struct inst_kind *kind, struct session *s,
    const struct account *acc)
{
	struct inst *i;

	if (count_of(kind, s->owner) >= OF_ONE_MAX || !end_earlier(kind, s) ||
	    (i = inst_new(kind, s)) == NULL)
		return NULL;
	if (inst_order_send(&i->order, &acc->rights) == -1) {
		free(i);
		return NULL;
	}
	LIST_INSERT_HEAD(&insts, i, next);
	return i;
}

void
inst_came(struct inst_order *u)
{
	struct inst *i = inst_of_order(u);
	int fd = u->fds[INSTRUMENT_FD_CHANNEL];

	u->fds[INSTRUMENT_FD_CHANNEL] = -1;
	i->life = INST_UP;
	if (chan_open(&i->chan, fd, 0) == -1 ||
	    loop_add(&i->pid_io, u->fds[INSTRUMENT_FD_PIDFD], EPOLLIN, on_pid,
	    i) == -1) {
		log_warn("watching a %s", u->ops->name);
		lost(i, NULL);
		return;
	}
	/* first: what is said to it may find that it has gone already */
	loop_timer_set(&i->timer, i->kind->idle() * 1000, on_idle, i);
	i->kind->up(i);
	inst_asks_begin(i);
}

void
inst_failed(struct inst_order *u, enum err err, const char *why)
{
	inst_end_shown(inst_of_order(u), err, why);
}

/* -- what it says of itself ----------------------------------------------- */

/* The last use counts, and one with a program is of use. */
static void
on_idle(void *arg)
{
	struct inst *i = arg;
	struct session *s = i->session;
	uint64_t ms = i->kind->idle() * 1000;
	uint64_t since = loop_now_ms() - i->used;

	if (i->kind->is_in_use(i) || i->nasked > 0)
		since = 0;
	if (ms == 0 || since < ms) {
		loop_timer_set(&i->timer, ms == 0 ? IDLE_LOOK_MS : ms - since,
		    on_idle, i);
		return;
	}
	activity_note(s->owner, &s->id, "the %s has ended, as nobody used it "
	    "(%s idle)", i->kind->order.name, i->kind->order.name);
	inst_end_shown(i, i->kind->order.lost, NULL);
}

static void
on_bye(void *arg)
{
	struct inst *i = arg;
	struct session *s = i->session;
	struct inst_last last;
	struct sid id;

	if (i->life == INST_GOING)
		return;
	last = i->last;
	i->last.json = NULL;
	id = i->id;
	inst_end(i, i->kind->order.lost, NULL);
	if (!i->kind->left(i, s))
		i->kind->show(s);
	else {
		activity_note(s->owner, &s->id, "deleted, as its %s has ended",
		    i->kind->order.name);
		session_free(s);
	}
	inst_last_send(&last, i->kind, &id);
}

void
inst_leave(struct inst *i)
{
	i->leaving = true;
	loop_timer_set(&i->timer, 0, on_bye, i);
}

int
spawn_on_inst_bye(struct msg *m)
{
	struct inst *i = inst_of(m);

	if (msg_end(m) == -1 || i->session == NULL)
		return -1;
	inst_leave(i);
	return 0;
}

int
spawn_on_inst_log(struct msg *m)
{
	struct inst *i = inst_of(m);
	uint32_t level = msg_get_u32(m);
	char line[LOG_LINE_MAX], text[LOG_LINE_MAX];

	msg_get_str(m, line, sizeof(line));
	if (msg_end(m) == -1 || level > LOG_L_AUDIT || i->session == NULL)
		return -1;
	/* its owner's words are not to fill the daemon's log */
	if (i->nlogged++ < LINES_MAX)
		log_debug("%s of %s: %s", i->kind->order.name,
		    i->session->text,
		    log_escape(text, sizeof(text), line, strlen(line)));
	return 0;
}

void
inst_tell_failed(struct inst *i, const char *code, const char *why)
{
	struct msg_out *o = msg_new(MSG_INST_RUN_FAILED, &i->session->id, 0,
	    0);

	i->ordered = false;
	msg_put_str(o, code);
	msg_put_str(o, why);
	(void)chan_send(&i->chan, o, -1);
}

/* -- output --------------------------------------------------------------- */

void
inst_tell_ring(struct inst *i)
{
	struct session *s = i->session;
	int fd = s->ring.fd == -1 ? -1 : fd_copy(s->ring.fd);
	struct msg_out *o;

	if (fd == -1)
		return;
	o = msg_new(MSG_INST_RING, &s->id, 0, 0);
	msg_put_u32(o, s->view.run);
	(void)chan_send(&i->chan, o, fd);
}

void
inst_output(struct inst *i)
{
	struct session *s = i->session;
	struct msg_out *o;

	if (!i->armed || i->life != INST_UP || s->ring.hdr == NULL ||
	    ring_total(&s->ring) <= i->armed_at)
		return;
	i->armed = false;
	o = msg_new(MSG_INST_OUTPUT_NOTICE, &s->id, 0, 0);
	msg_put_u64(o, ring_total(&s->ring));
	(void)chan_send(&i->chan, o, -1);
}

int
spawn_on_inst_arm(struct msg *m)
{
	struct inst *i = inst_of(m);
	uint64_t offset = msg_get_u64(m);

	if (msg_end(m) == -1 || i->session == NULL || inst_is_deaf(i))
		return -1;
	i->armed = true;
	i->armed_at = offset;
	inst_output(i);
	return 0;
}
