/* SPDX-License-Identifier: ISC */
/*
 * Removes a deleted session's timeline.  The files are the owner's, in a
 * directory that only the owner's processes can enter, and the session's tracer
 * may have been killed: so another tracer is started only to remove them.  It
 * has a session that is shown to no user and goes with it.
 */
#include <stdio.h>

#include "base/log.h"
#include "spawner/link/peers.h"
#include "tracer.h"

#define RETRY_MS	1000
/* Without a launcher for so long the files stay; their owner can list them. */
#define TRIES_MAX	60
/* A home may be on a disk that does not answer. */
#define REMOVE_MS	30000

static void
on_end(void *arg)
{
	session_free(arg);
}

void
trc_forgotten(struct session *s)
{
	/* its process may be in the middle of being ended */
	loop_timer_set(&s->expiry_timer, 0, on_end, s);
}

static void
on_late(void *arg)
{
	struct session *s = arg;

	log_warnx("the timeline of a deleted session of %s stays: it could "
	    "not be removed in time", s->owner->name);
	session_free(s);
}

static void
begin(void *arg)
{
	struct session *s = arg;
	struct inst *i = chan_is_open(&launcher_chan) ?
	    inst_begin(&trc_kind, s, &s->owner->account) : NULL;

	if (i == NULL) {
		trc_forget_failed(s);
		return;
	}
	LIST_INIT(&((struct trcproc *)i)->symprocs);
	s->trc = (struct trcproc *)i;
	loop_timer_set(&s->expiry_timer, REMOVE_MS, on_late, s);
}

void
trc_forget_failed(struct session *s)
{
	if (!shutting_down && ++s->traced.tries < TRIES_MAX) {
		loop_timer_set(&s->expiry_timer, RETRY_MS, begin, s);
		return;
	}
	log_warnx("the timeline of a deleted session of %s stays",
	    s->owner->name);
	trc_forgotten(s);
}

void
trc_forget(struct owner *o, const char *name)
{
	struct session *s = o->account.known ? session_new(o) : NULL;

	if (s == NULL) {
		log_warnx("the timeline of a deleted session of %s stays",
		    o->name);
		return;
	}
	session_set_state(s, STATE_DELETING);
	s->traced.forget = true;
	(void)snprintf(s->traced.name, sizeof(s->traced.name), "%s", name);
	/* what deletes a session may be in the middle of others */
	loop_timer_set(&s->expiry_timer, 0, begin, s);
}
