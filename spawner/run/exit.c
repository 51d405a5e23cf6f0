/* SPDX-License-Identifier: ISC */
/*
 * The end of a run in two steps: the program ends (a report of the stub: pid
 * and exit code), and its whole tree is gone (the stub's pidfd: STOPPED).  All
 * output is in the ring before the state changes.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "exit.h"
#include "expiry.h"
#include "output.h"
#include "run_hooks.h"
#include "spawner/client/activity.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/session/push.h"
#include "stop.h"
#include "tty.h"

static int64_t
wall_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Number of processes killed for lack of memory; 0 if it cannot be read. */
static uint64_t
out_of_memory_kills(int events_fd)
{
	static const char key[] = "\noom_kill ";
	char text[512];
	ssize_t n = events_fd == -1 ? -1 : pread_again(events_fd, text,
	    sizeof(text) - 1, 0);
	const char *p;

	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, key);
	return p == NULL ? 0 : strtoull(p + strlen(key), NULL, 10);
}

void
exit_watch_memory(struct session *s, int events_fd)
{
	s->oom.events_fd = events_fd;
	/* the cgroup may be that of earlier runs */
	s->oom.before = out_of_memory_kills(events_fd);
}

static bool
exit_has_ended(const struct session *s)
{
	return s->view.exited_ns != 0;
}

static void
program_ended(struct session *s, uint32_t what, uint32_t value)
{
	s->view.pid = 0;
	s->view.exited_ns = wall_ns();
	if (what == STUB_EXITED) {
		s->view.has_exit_code = true;
		s->view.exit_code = value;
		activity_note(s->owner, &s->id, "ended with exit code %u",
		    value);
	} else {
		s->view.signal = value;
		s->view.out_of_memory = value == SIGKILL &&
		    out_of_memory_kills(s->oom.events_fd) > s->oom.before;
		activity_note(s->owner, &s->id, "ended by signal %u%s", value,
		    s->view.out_of_memory ? ": out of memory" : "");
	}
	if (s->tty != NULL)
		tty_leader_ended(s);
}

/* A stub is not the program, but it is no more to be trusted. */
static bool
good_report(const struct stub_report *r)
{
	if (r->what == STUB_EXITED)
		return r->value <= 255;
	return r->what == STUB_SIGNALED && r->value > 0 && r->value < NSIG;
}

/* 1 = one report taken or ignored, 0 = none there now, -1 = none to come. */
static int
read_report(struct session *s)
{
	struct stub_report r;
	ssize_t n = read_again(s->status_fd, &r, sizeof(r));

	if (n == -1 && errno == EAGAIN)
		return 0;
	if (n != (ssize_t)sizeof(r) || !good_report(&r))
		return -1;
	/* of the program that it debugs, its debugger tells */
	if (s->adapter)
		run_hooks->adapter_ended(s, r.what == STUB_SIGNALED, r.value);
	else if (!exit_has_ended(s))
		program_ended(s, r.what, r.value);
	return 1;
}

void
exit_look(struct session *s)
{
	bool before = exit_has_ended(s);

	if (!s->status_io.active)
		return;
	/* the fd stays open: its end tells the stub that we are gone */
	if (read_report(s) == -1)
		loop_del(&s->status_io);
	if (exit_has_ended(s) != before)
		push_session(s);
}

static void
on_status(uint32_t events, void *arg)
{
	(void)events;
	exit_look(arg);
}

static void
close_run(struct session *s)
{
	loop_del(&s->status_io);
	loop_del(&s->stub_io);
	fd_close(&s->status_fd);
	fd_close(&s->stub_fd);
	fd_close(&s->target_fd);
	fd_close(&s->stdin_fd);
	fd_close(&s->oom.events_fd);
}

/* A debugger that did not live to tell, or has let it go. */
static void
note_adapter_end(struct session *s)
{
	bool killed = s->stop.stage != STOP_NONE && !s->elsewhere;

	if (!exit_has_ended(s)) {
		s->view.pid = 0;
		s->view.exited_ns = wall_ns();
		s->view.signal = killed ? SIGKILL : 0;
		activity_note(s->owner, &s->id, "%s", s->elsewhere ?
		    "the debugger has left the process" : killed ?
		    "ended under its debugger" :
		    "ended, and no debugger has seen how");
	}
	s->adapter = s->elsewhere = false;
}

static void
tree_gone(struct session *s)
{
	s->ending = false;
	output_finish(s);
	if (!exit_has_ended(s))
		(void)read_report(s);
	if (s->adapter)
		note_adapter_end(s);
	/* a stub that was killed itself takes the tree along unreported */
	if (!exit_has_ended(s))
		program_ended(s, STUB_SIGNALED, SIGKILL);
	/* or, without a pid namespace, leaves it to the cgroup */
	if (s->sandbox == SANDBOX_NONE)
		(void)send_signal(s, 0, s->stub_fd, SIGKILL, SIGNAL_TREE_KILL);
	close_run(s);
	run_hooks->tree_gone(s);
	session_set_state(s, STATE_STOPPED);
	push_session(s);
	run_hooks->stopped(s);
	stop_tree_gone(s);
	expiry_ended(s);
}

/*
 * A program that has made its pipes larger, or filled them before they were
 * made to fit, may leave more in them than the ring has room for beside what a
 * follower is to get; it waits for that one, unless somebody wants the end.
 */
static bool
is_early(const struct session *s)
{
	return s->stop.stage == STOP_NONE && !shutting_down && output_waits(s);
}

static void
on_stub(uint32_t events, void *arg)
{
	struct session *s = arg;

	(void)events;
	s->ending = is_early(s);
	if (s->ending)
		loop_del(&s->stub_io);
	else
		tree_gone(s);
}

void
exit_again(struct session *s)
{
	if (s->ending && !is_early(s))
		tree_gone(s);
}

bool
exit_now(struct session *s)
{
	if (!s->ending)
		return false;
	tree_gone(s);
	return true;
}

int
exit_watch(struct session *s, int status_fd, int stub_fd)
{
	int saved;

	s->status_fd = status_fd;
	s->stub_fd = stub_fd;
	s->status_io = (struct loop_io)LOOP_IO_INIT;
	s->stub_io = (struct loop_io)LOOP_IO_INIT;
	if (loop_add(&s->status_io, status_fd, EPOLLIN, on_status, s) == 0 &&
	    loop_add(&s->stub_io, stub_fd, EPOLLIN, on_stub, s) == 0)
		return 0;
	saved = errno;
	log_warn("watching session %s", s->text);
	/* nobody would see its end: it may not go on */
	close_run(s);
	errno = saved;
	return -1;
}
