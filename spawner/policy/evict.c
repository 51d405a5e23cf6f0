/* SPDX-License-Identifier: ISC */
#include "base/log.h"
#include "base/loop.h"
#include "evict.h"
#include "spawner/client/activity.h"
#include "spawner/session/session.h"
#include "wire/role.h"

/* A debugger or a tracer may be about to start it. */
static bool
is_unused(const struct session *s)
{
	uint64_t since = s->active_ms > s->made_ms ? s->active_ms : s->made_ms;

	return s->state == STATE_LOADED && s->view.started_ns == 0 &&
	    s->dbg == NULL && s->trc == NULL && s->job == NULL &&
	    loop_now_ms() - since >= settings.unstarted_timeout * 1000;
}

uint64_t
evictable_bytes(const struct owner *o)
{
	struct session *s;
	uint64_t n = 0;

	SESSION_FOREACH(s)
		if (s->owner != o && is_unused(s))
			n += s->bytes;
	return n;
}

bool
evict_unstarted(const struct owner *o)
{
	struct session *s, *oldest = NULL;

	SESSION_FOREACH(s)
		if (s->owner != o && is_unused(s) &&
		    (oldest == NULL || s->made_ms < oldest->made_ms))
			oldest = s;
	if (oldest == NULL)
		return false;
	activity_note(oldest->owner, &oldest->id, "deleted, as nobody started "
	    "it and another user needed its place (unstarted-timeout)");
	log_info("session %s of %s was never started and gives way "
	    "(unstarted-timeout)", oldest->text, oldest->owner->name);
	session_free(oldest);
	return true;
}
