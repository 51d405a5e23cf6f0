/* SPDX-License-Identifier: ISC */
/*
 * A debugger's process: ordered from the launcher, greeted, watched, ended.
 * Nothing of it is freed while a handler of its own channel may run.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activity.h"
#include "dbg.h"
#include "dbgaudit.h"
#include "dbghello.h"
#include "fdkind.h"
#include "handlers.h"
#include "log.h"
#include "owner.h"
#include "peers.h"
#include "push.h"
#include "quota.h"
#include "quotas.h"
#include "role.h"
#include "start.h"
#include "stop.h"
#include "ttl.h"

#define BEGIN_MS	10000
/* How soon to try again when there is no launcher just now. */
#define RETRY_MS	200
/* A user's debuggers: more than that are not looked at by anybody. */
#define OF_ONE_MAX	64
/* Messages of one that has ended. */
#define WORDS_MAX	4096
/* Lines of one process that are logged. */
#define LINES_MAX	200
/* It changes its mind as fast as it likes; who looks hears of it as often. */
#define SHOW_MS		50
/* In bytes, of netproc's queue: what can wait does; of its own: it is deaf. */
#define SHOW_BACKLOG	((size_t)1 << 20)
#define DEAF_BACKLOG	((size_t)512 * 1024)

struct dbgproc_list dbgprocs = LIST_HEAD_INITIALIZER(dbgprocs);

static void	on_idle(void *arg);
static void	on_bye(void *arg);

struct dbgproc *
dbg_of(const struct msg *m)
{
	return (struct dbgproc *)((char *)m->chan -
	    offsetof(struct dbgproc, chan));
}

static struct dbgproc *
find(const struct msg *m)
{
	struct dbgproc *p;

	LIST_FOREACH(p, &dbgprocs, next)
		if (p->serial == m->hdr.request && p->life == DBG_ORDERED)
			return p;
	return NULL;
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
		s->dbg->unshown = false;
	if (session_is_shown(s))
		push_session(s);
}

void
dbg_show_late(struct dbgproc *p)
{
	if (p->unshown && p->session != NULL)
		dbg_show(p->session);
}

/*
 * A session with all its variables is large, and netproc is everybody's: it
 * is told at once, and then no more often than it can take.
 */
static void
on_show(void *arg)
{
	struct dbgproc *p = arg;

	if (!p->unshown)
		return;
	if (chan_backlog(&netproc_chan) <= SHOW_BACKLOG)
		dbg_show(p->session);
	loop_timer_set(&p->show, SHOW_MS, on_show, p);
}

void
dbg_show_soon(struct dbgproc *p)
{
	p->unshown = true;
	if (p->show.slot == 0)
		on_show(p);
}

void
dbg_listen(struct dbgproc *p)
{
	chan_pause(&p->chan, p->late || p->sought != 0);
}

bool
dbg_is_deaf(const struct dbgproc *p)
{
	return chan_backlog(&p->chan) > DEAF_BACKLOG;
}

/* -- the end -------------------------------------------------------------- */

/*
 * One that does not mind that its channel ends has been taken over.  False
 * without a launcher just now: nobody can end it.
 */
static bool
end_process(struct dbgproc *p)
{
	int *pidfd = &p->fds[INSTRUMENT_FD_PIDFD];
	struct msg_out *o;

	if (p->ended)
		return true;
	if (*pidfd != -1 && poke(NULL, 0, *pidfd, SIGKILL, POKE_ONE) == -1)
		return false;
	o = msg_new(MSG_SWEEP, &p->id, 0, 0);
	msg_put_u32(o, p->uid);
	msg_put_u32(o, LEAF_DEBUGGER);
	if (chan_send(&launcher_chan, o, -1) == -1)
		return false;
	fd_close(pidfd);
	p->ended = true;
	return true;
}

static void
on_drop(void *arg)
{
	struct dbgproc *p = arg;

	if (!end_process(p)) {
		loop_timer_set(&p->drop, RETRY_MS, on_drop, p);
		return;
	}
	LIST_REMOVE(p, next);
	free(p);
}

void
dbg_end(struct dbgproc *p, enum err err, const char *why)
{
	struct session *s = p->session;

	if (p->life == DBG_GOING)
		return;
	p->life = DBG_GOING;
	dbg_last_send(&p->last, &s->id);
	dbg_asks_fail(p, err, why);
	dbgaudit_end(p);
	chan_close(&p->chan);
	loop_del(&p->pid_io);
	fd_close(&p->fds[INSTRUMENT_FD_CHANNEL]);
	loop_timer_unset(&p->timer);
	loop_timer_unset(&p->pace);
	loop_timer_unset(&p->show);
	loop_timer_unset(&p->seek);
	dbg_run_end(p);
	s->dbg = NULL;
	p->session = NULL;
	loop_timer_set(&p->drop, 0, on_drop, p);
}

/* A session of its making stays for a while to be read, if there is a run. */
static void
forsake(struct session *s)
{
	bool starting = s->state == STATE_STARTING;

	s->forget |= (starting ? s->start.before : s->state) == STATE_LOADED;
	/* else that ends first */
	if (s->stub_fd == -1 && !starting)
		ttl_ended(s);
}

static void
end_shown(struct dbgproc *p, enum err err, const char *why)
{
	struct session *s = p->session;
	bool made = p->made;

	dbg_end(p, err, why);
	dbg_show(s);
	if (made)
		forsake(s);
}

/* It has ended by itself, or has broken the rules. */
static void
lost(struct dbgproc *p, const char *why)
{
	struct session *s = p->session;
	char text[200];

	if (p->life == DBG_GOING)
		return;
	/* that it would was what it said last */
	if (p->leaving) {
		on_bye(p);
		return;
	}
	(void)snprintf(text, sizeof(text), "the debugger's process has ended%s%s",
	    why == NULL ? "" : ": it sent ", why == NULL ? "" : why);
	activity_note(s->owner, &s->id, "%s", text);
	end_shown(p, ERR_DEBUGGER_LOST, why == NULL ? NULL : text);
}

static void
on_lost(void *arg)
{
	lost(arg, NULL);
}

static void
on_chan_gone(struct channel *c, const char *why)
{
	struct dbgproc *p = (struct dbgproc *)((char *)c -
	    offsetof(struct dbgproc, chan));

	if (p->life == DBG_GOING)
		return;
	if (why != NULL)
		log_warnx("the debugger of session %s sent %s; it is ended",
		    p->session->text, why);
	/* a send inside a handler may end here: what that holds must stay */
	loop_timer_set(&p->timer, 0, on_lost, p);
}

/*
 * Its last words may be answers, which wait for netproc as others do.  What
 * is only looked for on its behalf does not hold them up.
 */
static void
on_dead(void *arg)
{
	struct dbgproc *p = arg;
	unsigned int i;

	for (i = 0; i < WORDS_MAX && chan_is_open(&p->chan) && !p->late; i++) {
		dbg_seek_end(p);
		chan_drain(&p->chan, 1);
	}
	if (p->late && chan_is_open(&p->chan))
		loop_timer_set(&p->timer, RETRY_MS, on_dead, p);
	else
		lost(p, NULL);
}

static void
on_pid(uint32_t events, void *arg)
{
	struct dbgproc *p = arg;

	(void)events;
	loop_del(&p->pid_io);
	on_dead(p);
}

void
dbg_session_gone(struct session *s)
{
	if (s->dbg != NULL)
		dbg_end(s->dbg, ERR_NOT_FOUND, NULL);
}

/* -- the beginning -------------------------------------------------------- */

static unsigned int
count_of(const struct owner *o)
{
	const struct dbgproc *p;
	unsigned int n = 0;

	LIST_FOREACH(p, &dbgprocs, next)
		if (p->session != NULL && p->session->owner == o)
			n++;
	return n;
}

/* The cgroup has the session's name: an older one's end must not be ours. */
static bool
end_earlier(const struct session *s)
{
	struct dbgproc *p;

	LIST_FOREACH(p, &dbgprocs, next)
		if (p->life == DBG_GOING &&
		    memcmp(&p->id, &s->id, sizeof(p->id)) == 0 &&
		    !end_process(p))
			return false;
	return true;
}

static void
on_late(void *arg)
{
	end_shown(arg, ERR_DEBUGGER_LOST, "the debugger's process did not "
	    "start within 10 seconds");
}

static struct dbgproc *
proc_new(struct session *s)
{
	struct dbgproc *p = calloc(1, sizeof(*p));
	size_t i;

	if (p == NULL)
		return NULL;
	TAILQ_INIT(&p->asked);
	for (i = 0; i < INSTRUMENT_FD_COUNT; i++)
		p->fds[i] = -1;
	for (i = 0; i < ATTACH_FD_COUNT; i++)
		p->beside.fds[i] = -1;
	p->session = s;
	p->id = s->id;
	p->uid = s->owner->uid;
	p->serial = next_serial();
	p->sandbox = SANDBOX_DEFAULT;
	p->network = NETWORK_DEFAULT;
	p->pid_io = (struct loop_io)LOOP_IO_INIT;
	p->beside.pid_io = (struct loop_io)LOOP_IO_INIT;
	chan_init(&p->chan, ROLE_SPAWNER, ROLE_DEBUGGER, on_chan_gone, NULL);
	return p;
}

struct dbgproc *
dbg_begin(struct session *s, const struct account *acc)
{
	struct dbgproc *p;
	struct msg_out *o;
	struct quota q;

	if (count_of(s->owner) >= OF_ONE_MAX || !end_earlier(s) ||
	    (p = proc_new(s)) == NULL)
		return NULL;
	quota_of(s->owner, &q);
	quota_tell(s->owner);
	o = msg_new(MSG_INSTRUMENT, &s->id, 0, p->serial);
	owner_put(o, &acc->rights);
	msg_put_u32(o, ROLE_DEBUGGER);
	msg_put_u64(o, q.most[QUOTA_MEMORY]);
	msg_put_u64(o, q.most[QUOTA_PROCESSES]);
	if (chan_send(&launcher_chan, o, -1) == -1) {
		free(p);
		return NULL;
	}
	LIST_INSERT_HEAD(&dbgprocs, p, next);
	s->dbg = p;
	loop_timer_set(&p->timer, BEGIN_MS, on_late, p);
	return p;
}

int
spawn_on_instrument_fd(struct msg *m)
{
	static const enum msg_fd kinds[INSTRUMENT_FD_COUNT] = {
		[INSTRUMENT_FD_CHANNEL] = FD_SOCKET,
		[INSTRUMENT_FD_PIDFD] = FD_PIDFD,
	};
	struct dbgproc *p = find(m);
	uint32_t kind = msg_get_u32(m);

	if (msg_end(m) == -1 || kind >= INSTRUMENT_FD_COUNT ||
	    fdkind_check(kinds[kind], m->fd) != NULL)
		return -1;
	/* of one that was given up: it goes with its channel */
	if (p == NULL)
		return 0;
	if (p->fds[kind] != -1)
		return -1;
	p->fds[kind] = msg_take_fd(m);
	return 0;
}

/* What the session runs, as far as it is known. */
static void
hello_program(struct dbg_hello *h, const struct session *s)
{
	const struct session_view *v = &s->view;

	h->image = !v->command && !v->bundle;
	if (v->bundle)
		(void)snprintf(h->program, sizeof(h->program), "%s/%s",
		    v->bundle_dir, v->exec_path);
	else if (v->command && s->program != NULL && !s->dbg->made)
		(void)snprintf(h->program, sizeof(h->program), "%s",
		    s->program);
	h->args = s->argv;
	h->args_len = s->argv_len;
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
greet(struct dbgproc *p)
{
	static struct dbg_hello h;
	struct session *s = p->session;
	struct msg_out *o = msg_new(MSG_DBG_HELLO, &s->id, 0, 0);

	memset(&h, 0, sizeof(h));
	h.user_mode = role_mode == MODE_USER;
	h.on_tty = s->on_tty;
	if (s->state & STATE_ALIVE && s->view.pid != 0)
		h.target_pid = s->inner_pid;
	h.initialize_s = (uint32_t)settings.dap_initialize;
	h.request_s = (uint32_t)settings.dap_request;
	h.await_s = (uint32_t)settings.dap_await;
	h.max_events = (uint32_t)settings.debugger_output_events;
	h.max_bytes = settings.debugger_output_bytes;
	(void)snprintf(h.home, sizeof(h.home), "%s", s->owner->account.home);
	(void)snprintf(h.session, sizeof(h.session), "%s",
	    s->view.name[0] != '\0' ? s->view.name : s->text);
	(void)snprintf(h.id, sizeof(h.id), "%s", s->text);
	hello_program(&h, s);
	hello_adapters(&h);
	dbg_hello_put(o, &h);
	(void)chan_send(&p->chan, o, -1);
}

int
spawn_on_instrument_ran(struct msg *m)
{
	struct dbgproc *p = find(m);
	int fd;

	(void)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	if (p == NULL)
		return 0;
	fd = p->fds[INSTRUMENT_FD_CHANNEL];
	if (fd == -1 || p->fds[INSTRUMENT_FD_PIDFD] == -1)
		return -1;
	p->fds[INSTRUMENT_FD_CHANNEL] = -1;
	p->life = DBG_UP;
	if (chan_open(&p->chan, fd, 0) == -1 ||
	    loop_add(&p->pid_io, p->fds[INSTRUMENT_FD_PIDFD], EPOLLIN, on_pid,
	    p) == -1) {
		log_warn("watching a debugger");
		lost(p, NULL);
		return 0;
	}
	greet(p);
	dbg_asks_begin(p);
	loop_timer_set(&p->timer, settings.debugger_idle * 1000, on_idle, p);
	return 0;
}

int
spawn_on_instrument_failed(struct msg *m)
{
	struct dbgproc *p = find(m);
	uint32_t step = msg_get_u32(m), errnum = msg_get_u32(m);
	const char *why = strerrordesc_np((int)errnum);
	char text[400];

	if (msg_end(m) == -1 || step == STEP_NONE || step >= STEP_COUNT)
		return -1;
	if (p == NULL)
		return 0;
	if (!start_used_up(p->session, step, errnum, text, sizeof(text)))
		(void)snprintf(text, sizeof(text), "cannot %s: %s",
		    step_text(step), why == NULL ? "unknown error" : why);
	end_shown(p, step_code(step, ERR_DEBUGGER_LOST), text);
	return 0;
}

void
dbg_launcher_lost(void)
{
	struct dbgproc *p, *next;

	for (p = LIST_FIRST(&dbgprocs); p != NULL; p = next) {
		next = LIST_NEXT(p, next);
		if (p->life == DBG_ORDERED)
			end_shown(p, ERR_TRY_AGAIN, NULL);
		else if (p->life == DBG_UP) {
			dbg_run_lost(p);
			dbg_seek_lost(p);
		}
	}
}

/* -- what it says of itself ----------------------------------------------- */

/* The last use counts, and one with a program is of use. */
static void
on_idle(void *arg)
{
	struct dbgproc *p = arg;
	struct session *s = p->session;
	uint64_t ms = settings.debugger_idle * 1000;
	uint64_t since = loop_now_ms() - p->used;

	if (p->on || p->beside.on || p->ordered || p->nasked > 0)
		since = 0;
	if (ms == 0 || since < ms) {
		loop_timer_set(&p->timer, ms == 0 ? BEGIN_MS : ms - since,
		    on_idle, p);
		return;
	}
	activity_note(s->owner, &s->id, "the debugger has ended, as nobody "
	    "used it (debugger idle)");
	end_shown(p, ERR_DEBUGGER_LOST, NULL);
}

static void
on_bye(void *arg)
{
	struct dbgproc *p = arg;
	struct session *s = p->session;
	struct dbg_last last;
	struct sid id;

	if (p->life == DBG_GOING)
		return;
	last = p->last;
	p->last.json = NULL;
	id = s->id;
	s->forget = p->made;
	dbg_end(p, ERR_DEBUGGER_LOST, NULL);
	if (!s->forget || s->stub_fd != -1 || s->state == STATE_STARTING)
		dbg_show(s);
	else {
		activity_note(s->owner, &s->id, "deleted, as its debugger has "
		    "ended");
		session_free(s);
	}
	dbg_last_send(&last, &id);
}

void
dbg_leave(struct dbgproc *p)
{
	p->leaving = true;
	loop_timer_set(&p->timer, 0, on_bye, p);
}

int
spawn_on_dbg_bye(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);

	if (msg_end(m) == -1 || p->session == NULL)
		return -1;
	dbg_leave(p);
	return 0;
}

int
spawn_on_dbg_log(struct msg *m)
{
	struct dbgproc *p = dbg_of(m);
	uint32_t level = msg_get_u32(m);
	char line[LOG_LINE_MAX], text[LOG_LINE_MAX];

	msg_get_str(m, line, sizeof(line));
	if (msg_end(m) == -1 || level > LOG_L_AUDIT || p->session == NULL)
		return -1;
	/* its owner's words are not to fill the daemon's log */
	if (p->nlogged++ < LINES_MAX)
		log_debug("debugger of %s: %s", p->session->text,
		    log_escape(text, sizeof(text), line, strlen(line)));
	return 0;
}
