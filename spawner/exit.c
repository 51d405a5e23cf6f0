/* SPDX-License-Identifier: ISC */
/*
 * The end of a run in two steps: the program ends (a report of the stub: pid
 * and exit code), and its whole tree is gone (the stub's pidfd: STOPPED).  All
 * output is in the ring before the state changes.
 */
#include <sys/epoll.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "debug.h"
#include "exit.h"
#include "log.h"
#include "output.h"
#include "peers.h"
#include "push.h"
#include "stop.h"

static int64_t
wall_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static bool
has_ended(const struct session *s)
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
		activity_note(s->owner, &s->id, "ended by signal %u", value);
	}
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
	ssize_t n = read(s->status_fd, &r, sizeof(r));

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof(r) || !good_report(&r))
		return -1;
	if (!has_ended(s))
		program_ended(s, r.what, r.value);
	return 1;
}

static void
on_status(uint32_t events, void *arg)
{
	struct session *s = arg;
	bool before = has_ended(s);

	(void)events;
	/* the fd stays open: its end tells the stub that we are gone */
	if (read_report(s) == -1)
		loop_del(&s->status_io);
	if (has_ended(s) != before)
		push_session(s);
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
}

static void
on_stub(uint32_t events, void *arg)
{
	struct session *s = arg;

	(void)events;
	output_finish(s);
	if (!has_ended(s))
		(void)read_report(s);
	/* a stub that was killed itself takes the tree along unreported */
	if (!has_ended(s))
		program_ended(s, STUB_SIGNALED, SIGKILL);
	/* or, without a pid namespace, leaves it to the cgroup */
	if (s->sandbox == SANDBOX_NONE)
		(void)poke(&s->id, 0, s->stub_fd, SIGKILL, POKE_TREE_KILL);
	close_run(s);
	debug_tree_gone(s);
	session_set_state(s, STATE_STOPPED);
	push_session(s);
	stop_tree_gone(s);
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
