/* SPDX-License-Identifier: ISC */
/*
 * Debuggers.  The launcher starts gdbserver in the session's namespaces; its
 * stderr tells whether it attached; netproc gets its socket.  In all cases the
 * debugger is over when its pidfd says so.
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
#include "gdbserver.h"
#include "spawner/client/activity.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/run/runspec.h"
#include "spawner/run/stop.h"
#include "spawner/session/push.h"
#include "tracer.h"
#include "wire/fdkind.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define ATTACH_MS	10000
#define OFFER_MS	30000
/* A gdbserver whose peer has gone removes its breakpoints and detaches. */
#define LEAVE_MS	3000
#define ATTACHED_TEXT	"Attached; pid"

static void	on_end_timeout(void *arg);

static void
gdbserver_close(struct session *s)
{
	struct gdbserver *d = &s->gdb;
	size_t i;

	loop_timer_unset(&d->timer);
	loop_del(&d->errors_io);
	loop_del(&d->pid_io);
	for (i = 0; i < ATTACH_FD_COUNT; i++)
		fd_close(&d->fds[i]);
	d->phase = GDB_NONE;
	d->serial = 0;
	d->offered = false;
	d->said_len = 0;
}

void
gdbserver_free(struct session *s)
{
	gdbserver_close(s);
	free(s->refusal.text);
	s->refusal.text = NULL;
}

static void
tell(struct session *s, struct asker *a, enum err code, const char *text)
{
	answer(a, &s->id, code, text == NULL ? NULL : "%s", text);
}

/*
 * No debugger.  A program that was started for one would wait for it for
 * ever: it is ended first, and who asked is answered when that is done.
 */
static void
refuse(struct session *s, struct asker *a, enum err code, const char *text)
{
	if (!s->gdb.of_start || s->stub_fd == -1) {
		tell(s, a, code, text);
		return;
	}
	if (!asker_waits(&s->refusal.asker)) {
		s->refusal.asker = *a;
		s->refusal.code = code;
		s->refusal.text = text == NULL ? NULL : strdup(text);
		a->owner = NULL;
	} else
		tell(s, a, code, text);
	stop_kill(s);
}

void
gdbserver_tell_refused(struct session *s)
{
	struct refusal *r = &s->refusal;

	if (asker_waits(&r->asker))
		tell(s, &r->asker, r->code, r->text);
	free(r->text);
	r->text = NULL;
}

static void
gdbserver_refuse(struct session *s, enum err code, const char *message)
{
	refuse(s, &s->gdb.asker, code, message);
}

/* Refuses the request with the output of gdbserver, as one line. */
static void
gdbserver_refuse_said(struct session *s)
{
	struct gdbserver *d = &s->gdb;
	char text[800], line[900];
	size_t i;

	while (d->said_len > 0 && d->said[d->said_len - 1] == '\n')
		d->said_len--;
	for (i = 0; i < d->said_len; i++)
		if (d->said[i] == '\n')
			d->said[i] = ' ';
	log_escape(text, sizeof(text), d->said, d->said_len);
	if (text[0] == '\0')
		gdbserver_refuse(s, ERR_DEBUG_FAILED,
		    "gdbserver ended without a message");
	else {
		(void)snprintf(line, sizeof(line),
		    "gdbserver could not be attached: %s", text);
		gdbserver_refuse(s, ERR_DEBUG_FAILED, line);
	}
}

/* The debugger is no more; the program may live on. */
static void
gdbserver_over(struct session *s)
{
	struct gdbserver *d = &s->gdb;
	bool of_start = d->of_start, failed = asker_waits(&d->asker);

	if (d->offered)
		(void)chan_send(&netproc_chan,
		    msg_new(MSG_DEBUG_OVER, &s->id, 0, 0), -1);
	if (failed)
		gdbserver_refuse_said(s);
	gdbserver_close(s);
	s->view.debug_port = 0;
	if (s->state == STATE_DEBUGGING) {
		session_set_state(s, STATE_RUNNING);
		push_session(s);
		activity_note(s->owner, &s->id, "debugger detached");
	}
	if (!of_start || s->stub_fd == -1)
		return;
	/* else nobody would ever let it run */
	if (!failed)
		(void)send_signal(s, 0, s->target_fd, SIGCONT, SIGNAL_ONE);
}

/* Gives gdbserver time to detach cleanly, then kills it. */
static void
gdbserver_end(struct session *s, uint64_t ms)
{
	s->gdb.phase = GDB_ENDING;
	loop_timer_set(&s->gdb.timer, ms, on_end_timeout, s);
}

static void
on_end_timeout(void *arg)
{
	struct session *s = arg;
	int fd = s->gdb.fds[ATTACH_FD_PIDFD];

	/* never begun, or not to be killed: done with it all the same */
	if (fd == -1) {
		gdbserver_over(s);
		return;
	}
	(void)send_signal(s, 0, fd, SIGKILL, SIGNAL_ONE);
	loop_timer_set(&s->gdb.timer, LEAVE_MS, on_end_timeout, s);
}

static void
on_timeout(void *arg)
{
	struct session *s = arg;

	gdbserver_refuse(s, ERR_DEBUG_FAILED, s->gdb.phase == GDB_OFFERED ?
	    "no port was opened for the debugger in time" :
	    "gdbserver did not attach within 10 seconds");
	gdbserver_end(s, 0);
}

/* Strings one after the other, each with its NUL. */
static size_t
gdbserver_argv(const struct session *s, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s%c--once%c--attach%c-%c%u",
	    settings.gdbserver, 0, 0, 0, 0, s->inner_pid);

	return (size_t)n + 1;
}

void
gdbserver_begin(struct session *s, struct asker *a, bool by_pipe, bool of_start)
{
	struct gdbserver *d = &s->gdb;
	const struct account *acc = &s->owner->account;
	struct msg_out *o;
	int fd = fd_copy(s->target_fd);
	char argv[sizeof(settings.gdbserver) + 48];
	static const char envp[] = "PATH=/usr/bin:/bin";
	size_t len = gdbserver_argv(s, argv, sizeof(argv));

	d->asker = *a;
	d->by_pipe = by_pipe;
	d->of_start = of_start;
	d->serial = next_serial();
	d->phase = GDB_ATTACHING;
	o = msg_new(MSG_ATTACH, &s->id, 0, d->serial);
	owner_put(o, &acc->rights);
	msg_put_u32(o, s->inner_pid);
	msg_put_u32(o, 0);
	msg_put_blob(o, argv, len);
	msg_put_blob(o, envp, sizeof(envp));
	runspec_put_limits(o, s);
	if (fd == -1 || chan_send(&launcher_chan, o, fd) == -1) {
		gdbserver_refuse(s, ERR_TRY_AGAIN, NULL);
		gdbserver_close(s);
		return;
	}
	loop_timer_set(&d->timer, ATTACH_MS, on_timeout, s);
}

/*
 * The debugger is this asker's from now on: it ends when the asker may no
 * longer use the session.
 */
static void
take_place(struct session *s, struct asker *a)
{
	if (s->gdb.phase != GDB_ACTIVE || s->view.debug_port == 0) {
		answer(a, &s->id, ERR_DEBUG_FAILED,
		    "the debugger has ended already");
		return;
	}
	s->gdb.asker = *a;
	s->gdb.asker.owner = NULL;
	s->gdb.by_pipe = true;
	s->view.debug_port = 0;
	push_session(s);
	answer(a, &s->id, ERR_OK, NULL);
}

int
spawn_on_debug(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t by = msg_get_u32(m);
	struct asker a;

	if (msg_end(m) == -1 || by > DEBUG_TAKE ||
	    !asker_init(&a, m, "DEBUG"))
		return -1;
	if (by == DEBUG_TAKE)
		take_place(s, &a);
	else if (trc_is_in_way(s, &a))
		return 0;
	else if (s->gdb.phase != GDB_NONE || s->adapter ||
	    s->state == STATE_DEBUGGING || dbg_is_beside(s))
		answer(&a, &s->id, ERR_ALREADY_DEBUGGING, NULL);
	else if (s->view.pid == 0)
		answer(&a, &s->id, ERR_NOT_RUNNING, "the program has ended; "
		    "only processes that it started are left");
	else if (s->stop.stage != STOP_NONE)
		answer(&a, &s->id, ERR_BUSY, "the session is being stopped");
	else
		gdbserver_begin(s, &a, by == DEBUG_BY_PIPE, false);
	return 0;
}

/* -- the launcher's answers -- */

static struct session *
find_attach(const struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);

	if (s == NULL || m->hdr.request == 0 ||
	    s->gdb.serial != m->hdr.request)
		return NULL;
	return s;
}

static bool
good_attach_fd(uint32_t kind, int fd)
{
	static const enum msg_fd kinds[ATTACH_FD_COUNT] = {
		[ATTACH_FD_WIRE] = FD_SOCKET,
		[ATTACH_FD_ERRORS] = FD_PIPE,
		[ATTACH_FD_PIDFD] = FD_PIDFD,
	};
	int flags = fcntl(fd, F_GETFL);

	return kind < ATTACH_FD_OUT && flags != -1 &&
	    fdkind_check(kinds[kind], fd) == NULL &&
	    (kind == ATTACH_FD_PIDFD ||
	    fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}

int
spawn_on_attach_fd(struct msg *m)
{
	struct session *s = find_attach(m);
	uint32_t kind = msg_get_u32(m);

	if (msg_end(m) == -1)
		return -1;
	/* or of an attach that was given up: its socket closes, it goes */
	if (s == NULL)
		return dbg_on_attach_fd(m, kind);
	if (!good_attach_fd(kind, m->fd))
		return -1;
	if (s->gdb.fds[kind] != -1)
		return -1;
	s->gdb.fds[kind] = msg_take_fd(m);
	return 0;
}

/* The beginning matters; the rest is read so that it never blocks. */
static void
read_errors(struct gdbserver *d)
{
	char waste[512], *to = d->said + d->said_len;
	size_t room = sizeof(d->said) - d->said_len;
	ssize_t n;

	if (room == 0)
		n = read(d->fds[ATTACH_FD_ERRORS], waste, sizeof(waste));
	else
		n = read(d->fds[ATTACH_FD_ERRORS], to, room);
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		loop_del(&d->errors_io);
	if (n > 0 && room > 0)
		d->said_len += (size_t)n;
}

static void
on_pid(uint32_t events, void *arg)
{
	struct session *s = arg;

	(void)events;
	/* its last words may be why */
	read_errors(&s->gdb);
	gdbserver_over(s);
}

/* gdbserver is there and attached: netproc may have its socket. */
static void
offer(struct session *s)
{
	struct gdbserver *d = &s->gdb;
	int fd = d->fds[ATTACH_FD_WIRE];

	d->fds[ATTACH_FD_WIRE] = -1;
	d->phase = GDB_OFFERED;
	loop_timer_set(&d->timer, OFFER_MS, on_timeout, s);
	if (answer_with(&d->asker, answer_new(&d->asker, MSG_DEBUG_FD, &s->id),
	    fd) == 0) {
		d->offered = true;
		return;
	}
	/* that netproc has gone, and gdbserver goes with its socket */
	d->asker.owner = NULL;
	gdbserver_end(s, LEAVE_MS);
}

static void
on_errors(uint32_t events, void *arg)
{
	struct session *s = arg;
	struct gdbserver *d = &s->gdb;

	(void)events;
	read_errors(d);
	if (d->phase == GDB_WATCHING && memmem(d->said, d->said_len,
	    ATTACHED_TEXT, strlen(ATTACHED_TEXT)) != NULL)
		offer(s);
}

int
spawn_on_attached(struct msg *m)
{
	struct session *s = find_attach(m);
	uint32_t pid = msg_get_u32(m), inner_pid = msg_get_u32(m);
	struct gdbserver *d;
	size_t i;

	if (msg_end(m) == -1)
		return -1;
	if (s == NULL)
		return dbg_on_attached(m, pid, inner_pid);
	d = &s->gdb;
	for (i = 0; i < ATTACH_FD_OUT; i++)
		if (d->fds[i] == -1)
			return -1;
	if (d->errors_io.active || d->pid_io.active)
		return -1;
	d->errors_io = d->pid_io = (struct loop_io)LOOP_IO_INIT;
	if (loop_add(&d->errors_io, d->fds[ATTACH_FD_ERRORS], EPOLLIN,
	    on_errors, s) == -1 ||
	    loop_add(&d->pid_io, d->fds[ATTACH_FD_PIDFD], EPOLLIN, on_pid,
	    s) == -1) {
		log_warn("watching gdbserver");
		gdbserver_end(s, 0);
		return 0;
	}
	if (d->phase == GDB_ATTACHING)
		d->phase = GDB_WATCHING;
	else
		gdbserver_end(s, 0);
	return 0;
}

int
spawn_on_attach_failed(struct msg *m)
{
	struct session *s = find_attach(m);
	uint32_t step = msg_get_u32(m), errnum = msg_get_u32(m);
	const char *why = strerrordesc_np((int)errnum);
	char text[sizeof(settings.gdbserver) + 128];

	if (msg_end(m) == -1 || step == STEP_NONE || step >= STEP_COUNT)
		return -1;
	if (s == NULL)
		return dbg_on_attach_failed(m, step, errnum);
	if (step == STEP_GDBSERVER && errnum == ENOENT)
		(void)snprintf(text, sizeof(text), "gdbserver is not at %s; "
		    "install it or set gdbserver in the configuration",
		    settings.gdbserver);
	else
		(void)snprintf(text, sizeof(text), "cannot %s: %s",
		    step_text(step), why == NULL ? "unknown error" : why);
	gdbserver_refuse(s, step_code(step, ERR_DEBUG_FAILED), text);
	gdbserver_close(s);
	return 0;
}

/* -- netproc's part -- */

int
spawn_on_debug_port(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t port = msg_get_u32(m);
	struct asker a;

	if (msg_end(m) == -1 || port > UINT16_MAX ||
	    !asker_init(&a, m, "DEBUG"))
		return -1;
	/* it may have ended, or been ended, while netproc opened a port */
	if (s == NULL || access_of(a.viewer, s) < ACCESS_USE ||
	    s->gdb.phase != GDB_OFFERED ||
	    s->gdb.asker.conn != a.conn) {
		answer(&a, &m->hdr.session, ERR_DEBUG_FAILED,
		    "the debugger has ended already");
		return 0;
	}
	a.command = s->gdb.asker.command;
	s->gdb.asker.owner = NULL;
	if (port == 0 && !s->gdb.by_pipe) {
		refuse(s, &a, ERR_DEBUG_FAILED,
		    "no port could be opened for the debugger");
		gdbserver_end(s, LEAVE_MS);
		return 0;
	}
	loop_timer_unset(&s->gdb.timer);
	s->gdb.phase = GDB_ACTIVE;
	s->view.debug_port = port;
	session_set_state(s, STATE_DEBUGGING);
	push_session(s);
	answer(&a, &s->id, ERR_OK, NULL);
	return 0;
}

/* Ends gdbserver, as its user lost access, whatever netproc does. */
static void
turn_out(struct session *s)
{
	if (s->gdb.offered) {
		(void)chan_send(&netproc_chan,
		    msg_new(MSG_DEBUG_OVER, &s->id, 0, 0), -1);
		gdbserver_end(s, LEAVE_MS);
		return;
	}
	gdbserver_refuse(s, ERR_NOT_PERMITTED, "the user who asked for the "
	    "debugger may no longer use the session");
	gdbserver_end(s, 0);
}

static bool
can_end(const struct session *s)
{
	return s->gdb.phase != GDB_NONE && s->gdb.phase != GDB_ENDING;
}

void
gdbserver_end_token(const char *id)
{
	struct session *s;

	/* their connection may be the debugger's alone by now */
	SESSION_FOREACH(s)
		if (can_end(s) && strcmp(s->gdb.asker.token, id) == 0)
			turn_out(s);
}

void
gdbserver_access_changed(struct session *s)
{
	if (can_end(s) && access_of(s->gdb.asker.viewer, s) < ACCESS_USE)
		turn_out(s);
}

void
gdbserver_end_admins(const struct viewer *v)
{
	struct session *s;

	SESSION_FOREACH(s)
		if (can_end(s) && s->gdb.asker.viewer->admin &&
		    (v == NULL || s->gdb.asker.viewer == v) &&
		    s->gdb.asker.viewer->owner != s->owner)
			turn_out(s);
}

void
gdbserver_end_owner(const struct owner *o)
{
	struct session *s;

	SESSION_FOREACH(s)
		if (can_end(s) && s->gdb.asker.viewer->owner == o)
			turn_out(s);
}

int
spawn_on_debug_end(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);

	if (s != NULL && access_is_told(s) && s->gdb.offered &&
	    s->gdb.phase != GDB_ENDING)
		gdbserver_end(s, LEAVE_MS);
	return msg_end(m);
}

/* -- ends that come from elsewhere -- */

void
gdbserver_tree_gone(struct session *s)
{
	struct gdbserver *d = &s->gdb;

	if (d->phase == GDB_NONE)
		return;
	if (asker_waits(&d->asker))
		tell(s, &d->asker, ERR_NOT_RUNNING,
		    "the program ended before the debugger was attached");
	if (d->fds[ATTACH_FD_PIDFD] != -1)
		(void)send_signal(s, 0, d->fds[ATTACH_FD_PIDFD], SIGKILL,
		    SIGNAL_ONE);
	d->of_start = false;
	gdbserver_over(s);
}

void
gdbserver_drop_all(void)
{
	struct session *s;

	SESSION_FOREACH(s) {
		if (s->gdb.phase == GDB_NONE)
			continue;
		s->gdb.asker.owner = NULL;
		s->gdb.offered = false;
		s->view.debug_port = 0;
		gdbserver_end(s, s->gdb.phase == GDB_ATTACHING ? 0 :
		    LEAVE_MS);
	}
}

void
gdbserver_launcher_lost(void)
{
	struct session *s;

	SESSION_FOREACH(s) {
		if (s->gdb.phase != GDB_ATTACHING)
			continue;
		gdbserver_refuse(s, ERR_TRY_AGAIN, NULL);
		gdbserver_close(s);
	}
}
