/* SPDX-License-Identifier: ISC */
/*
 * Resources that sessions use: the launcher, which alone may open the kernel's
 * files, is asked every two seconds, but only while a client looks.
 */
#include "base/loop.h"
#include "session.h"
#include "spawner/link/peers.h"
#include "usage.h"
#include "wire/handlers.h"

#define EVERY_MS	2000
/* A launcher that has more than this to read gets no questions on top. */
#define BACKLOG		(64 * 1024)

static struct loop_timer timer;
static bool		 wanted;

static void
ask(struct session *s)
{
	struct msg_out *o;
	int fd;

	/* the last answer is still to come: the launcher is busy */
	if (s->usage.asked || !access_is_told(s) || s->stub_fd == -1 ||
	    chan_backlog(&launcher_chan) > BACKLOG ||
	    (fd = fd_copy(s->stub_fd)) == -1)
		return;
	o = msg_new(MSG_SAMPLE, &s->id, 0, s->view.run);
	msg_put_u32(o, s->owner->uid);
	s->usage.asked = chan_send(&launcher_chan, o, fd) == 0;
}

static void
ask_all(void *arg)
{
	struct session *s;

	(void)arg;
	if (!wanted)
		return;
	SESSION_FOREACH(s)
		ask(s);
	loop_timer_set(&timer, EVERY_MS, ask_all, NULL);
}

void
usage_forget(struct session *s)
{
	s->usage.told = s->usage.still = false;
}

void
usage_stop(void)
{
	/* the timer goes on: who says on and off in turns hurries nobody */
	wanted = false;
}

void
usage_launcher_lost(void)
{
	struct session *s;

	SESSION_FOREACH(s)
		s->usage.asked = false;
}

int
spawn_on_usage_watch(struct msg *m)
{
	uint32_t on = msg_get_u32(m);

	if (msg_end(m) == -1 || on > 1)
		return -1;
	wanted = on != 0;
	if (timer.slot == 0)
		ask_all(NULL);
	return 0;
}

/* The same for the second time is news: that nothing goes on any more. */
static bool
is_news(struct session *s, uint64_t cpu_ns, uint64_t memory)
{
	bool same = s->usage.told && s->usage.cpu_ns == cpu_ns &&
	    s->usage.memory == memory, known = same && s->usage.still;

	s->usage.still = same;
	return !known;
}

int
spawn_on_sampled(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint64_t cpu_ns = msg_get_u64(m), memory = msg_get_u64(m);
	struct msg_out *o;

	if (msg_end(m) == -1)
		return -1;
	if (s == NULL)
		return 0;
	s->usage.asked = false;
	/* of an earlier run, or nothing new */
	if (m->hdr.request != s->view.run || !access_is_told(s) ||
	    !is_news(s, cpu_ns, memory))
		return 0;
	s->usage.told = true;
	s->usage.cpu_ns = cpu_ns;
	s->usage.memory = memory;
	o = msg_new(MSG_USAGE, &s->id, 0, 0);
	msg_put_u64(o, cpu_ns);
	msg_put_u64(o, memory);
	(void)chan_send(&netproc_chan, o, -1);
	return 0;
}
