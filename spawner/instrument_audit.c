/* SPDX-License-Identifier: ISC */
/*
 * The audit log of what is done by way of instruments: who, which request, with
 * what result, and never what was asked or answered.  An instrument says itself
 * which request it is about to do, as nobody else reads them; one that was
 * taken over can only be silent of, or misname, what was really asked.
 */
#include <stdio.h>
#include <string.h>

#include "activity.h"
#include "audit.h"
#include "instrument.h"

/* Frequent actions: the first is written, then how many there were. */
#define SPELL_MS	60000

static void
write_line(const struct inst *i, const char *user, enum door door,
    const char *address, uint32_t deed, const char *result)
{
	audit_write(&(struct audit){ .user = user, .door = door_text(door),
	    .address = address, .session = &i->id,
	    .action = i->kind->action(deed), .result = result });
}

static void
end_spell(const struct inst *i, struct inst_spell *s)
{
	char text[64];

	if (s->deed != 0 && s->count > 0) {
		(void)snprintf(text, sizeof(text), "%u more within a minute, "
		    "%u of them refused", s->count, s->refused);
		write_line(i, s->user, s->door, s->address, s->deed, text);
	}
	s->deed = 0;
	s->count = s->refused = 0;
}

static void
on_spell(void *arg)
{
	struct inst *i = arg;
	bool left = false;
	size_t n;

	for (n = 0; n < INST_SPELLS; n++) {
		if (loop_now_ms() - i->spells[n].since >= SPELL_MS)
			end_spell(i, &i->spells[n]);
		left |= i->spells[n].deed != 0;
	}
	if (left)
		loop_timer_set(&i->spell_timer, SPELL_MS / 4, on_spell, i);
}

/* True: a line about it has been written, or one tells how many there were. */
static bool
is_counted(struct inst *i, const struct inst_asked *q, bool failed)
{
	struct inst_spell *s, *oldest = i->spells;

	for (s = i->spells; s < i->spells + INST_SPELLS; s++) {
		if (s->deed == q->deed && s->door == q->asker.door &&
		    strcmp(s->user, q->user) == 0) {
			s->count++;
			s->refused += failed;
			return true;
		}
		if (s->since < oldest->since)
			oldest = s;
	}
	end_spell(i, oldest);
	oldest->deed = q->deed;
	oldest->door = q->asker.door;
	oldest->since = loop_now_ms();
	memcpy(oldest->user, q->user, sizeof(oldest->user));
	memcpy(oldest->address, q->asker.address, sizeof(oldest->address));
	if (i->spell_timer.slot == 0)
		loop_timer_set(&i->spell_timer, SPELL_MS, on_spell, i);
	return false;
}

void
inst_audit_done(struct inst *i, const struct inst_asked *q, bool failed)
{
	if (q->deed == 0 ||
	    (i->kind->is_often(q->deed) && is_counted(i, q, failed)))
		return;
	if (q->asker.owner == NULL)
		write_line(i, q->user, q->asker.door, q->asker.address,
		    q->deed, failed ? "refused" : "ok");
	else
		activity_answer(&q->asker, &i->id, failed ?
		    i->kind->refused : ERR_OK, "");
}

void
inst_audit_left(const struct inst *i, const struct inst_asked *q)
{
	if (q->deed != 0)
		write_line(i, q->user, q->asker.door, q->asker.address,
		    q->deed, "begun (who asked has not waited)");
}

void
inst_audit_end(struct inst *i)
{
	size_t n;

	loop_timer_unset(&i->spell_timer);
	for (n = 0; n < INST_SPELLS; n++)
		end_spell(i, &i->spells[n]);
}

