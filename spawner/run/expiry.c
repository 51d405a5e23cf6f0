/* SPDX-License-Identifier: ISC */
/*
 * An ephemeral session stays for a while after its end, to be read.  A session
 * that belongs to no user in particular (auth none) is ended when it is not
 * used.
 */
#include "expiry.h"
#include "spawner/client/activity.h"
#include "stop.h"
#include "wire/role.h"

/* A start is under way: soon it is clear what becomes of it. */
#define LATER_MS	1000

static void	on_idle(void *arg);

static uint64_t
idle_ms(const struct session *s)
{
	return s->view.ephemeral && s->by_rule ?
	    settings.pty_idle_ttl * 1000 : 0;
}

void
expiry_touch(struct session *s)
{
	s->active_ms = loop_now_ms();
}

void
expiry_begin(struct session *s)
{
	uint64_t ms = idle_ms(s);

	expiry_touch(s);
	loop_timer_unset(&s->expiry_timer);
	if (ms > 0)
		loop_timer_set(&s->expiry_timer, ms, on_idle, s);
}

static void
forget(struct session *s, const char *why)
{
	activity_note(s->owner, &s->id, "deleted, %s", why);
	session_free(s);
}

static void
on_idle(void *arg)
{
	struct session *s = arg;
	uint64_t ms = idle_ms(s), since = loop_now_ms() - s->active_ms;

	if (s->state == STATE_STARTING)
		loop_timer_set(&s->expiry_timer, LATER_MS, on_idle, s);
	else if (ms > since)
		loop_timer_set(&s->expiry_timer, ms - since, on_idle, s);
	else if (s->state == STATE_LOADED)
		forget(s, "as nobody started it (pty-idle-ttl)");
	else if (s->state == STATE_STOPPED)
		forget(s, "as nobody asked for its timeline (pty-idle-ttl)");
	else if (ms > 0) {
		activity_note(s->owner, &s->id, "ended, as nobody used it "
		    "(pty-idle-ttl)");
		stop_hang_up(s);
	}
}

static void
on_grace(void *arg)
{
	struct session *s = arg;

	if (s->state == STATE_STOPPED)
		forget(s, "as it had ended (pty-grace)");
	else
		loop_timer_set(&s->expiry_timer, LATER_MS, on_grace, s);
}

static void
on_forget(void *arg)
{
	struct session *s = arg;

	/* somebody was quicker, and has started it */
	if (s->state & (STATE_LOADED | STATE_STOPPED))
		forget(s, "as its debugger has ended");
	else
		loop_timer_set(&s->expiry_timer, LATER_MS, on_forget, s);
}

void
expiry_ended(struct session *s)
{
	loop_timer_unset(&s->expiry_timer);
	if (s->forget)
		loop_timer_set(&s->expiry_timer, 0, on_forget, s);
	/* with a debugger it can be started again, a timeline is to be read */
	else if (s->traced.on)
		expiry_begin(s);
	else if (s->view.ephemeral && s->dbg == NULL)
		loop_timer_set(&s->expiry_timer, settings.pty_grace * 1000,
		    on_grace, s);
}
