/* SPDX-License-Identifier: ISC */
/*
 * The audit log of what is done by way of instruments: who, which request, with
 * what result, and never what was asked or answered.  An instrument says itself
 * which request it is about to do, as nobody else reads them; one that was
 * taken over can only be silent of, or misname, what was really asked.
 */
#include <stdio.h>
#include <string.h>

#include "instrument.h"
#include "spawner/client/activity.h"
#include "spawner/client/audit.h"

/* Frequent actions: the first is written, then how many there were. */
#define REPEAT_MS	60000

static void
write_line(const struct inst *i, const char *user, enum door door,
    const char *address, uint32_t action, const char *result)
{
	audit_write(&(struct audit){ .user = user, .door = door_text(door),
	    .address = address, .session = &i->id,
	    .action = i->kind->action_name(action), .result = result });
}

static void
end_repeat(const struct inst *i, struct inst_repeat *s)
{
	char text[64];

	if (s->action != 0 && s->count > 0) {
		(void)snprintf(text, sizeof(text), "%u more within a minute, "
		    "%u of them refused", s->count, s->refused);
		write_line(i, s->user, s->door, s->address, s->action, text);
	}
	s->action = 0;
	s->count = s->refused = 0;
}

static void
on_repeat(void *arg)
{
	struct inst *i = arg;
	bool left = false;
	size_t n;

	for (n = 0; n < INST_REPEATS; n++) {
		if (loop_now_ms() - i->repeats[n].since >= REPEAT_MS)
			end_repeat(i, &i->repeats[n]);
		left |= i->repeats[n].action != 0;
	}
	if (left)
		loop_timer_set(&i->repeat_timer, REPEAT_MS / 4, on_repeat, i);
}

/* True: a line about it has been written, or one tells how many there were. */
static bool
is_counted(struct inst *i, const struct inst_asked *q, bool failed)
{
	struct inst_repeat *s, *oldest = i->repeats;

	for (s = i->repeats; s < i->repeats + INST_REPEATS; s++) {
		if (s->action == q->action && s->door == q->asker.door &&
		    strcmp(s->user, q->user) == 0) {
			s->count++;
			s->refused += failed;
			return true;
		}
		if (s->since < oldest->since)
			oldest = s;
	}
	end_repeat(i, oldest);
	oldest->action = q->action;
	oldest->door = q->asker.door;
	oldest->since = loop_now_ms();
	memcpy(oldest->user, q->user, sizeof(oldest->user));
	memcpy(oldest->address, q->asker.address, sizeof(oldest->address));
	if (i->repeat_timer.slot == 0)
		loop_timer_set(&i->repeat_timer, REPEAT_MS, on_repeat, i);
	return false;
}

void
inst_audit_done(struct inst *i, const struct inst_asked *q, bool failed)
{
	if (q->action == 0 ||
	    (i->kind->is_often(q->action) && is_counted(i, q, failed)))
		return;
	if (q->asker.owner == NULL)
		write_line(i, q->user, q->asker.door, q->asker.address,
		    q->action, failed ? "refused" : "ok");
	else
		activity_answer(&q->asker, &i->id, failed ?
		    i->kind->refused : ERR_OK, "");
}

void
inst_audit_left(const struct inst *i, const struct inst_asked *q)
{
	if (q->action != 0)
		write_line(i, q->user, q->asker.door, q->asker.address,
		    q->action, "begun (who asked has not waited)");
}

void
inst_audit_end(struct inst *i)
{
	size_t n;

	loop_timer_unset(&i->repeat_timer);
	for (n = 0; n < INST_REPEATS; n++)
		end_repeat(i, &i->repeats[n]);
}

