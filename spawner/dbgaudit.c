/* SPDX-License-Identifier: ISC */
/*
 * The audit log of what is done by way of debuggers: who, which request, with
 * what result, and never what was asked or answered.  A debugger says itself
 * which request it is about to do, as nobody else reads them; one that was
 * taken over can only be silent of, or misname, what was really asked.
 */
#include <stdio.h>
#include <string.h>

#include "activity.h"
#include "audit.h"
#include "dbgaudit.h"
#include "handlers.h"

/* Of what comes often the first is written, then how many there were. */
#define SPELL_MS	60000

static void
write_line(const struct dbgproc *p, const char *user, enum door door,
    const char *address, enum dbg_deed deed, const char *result)
{
	audit_write(&(struct audit){ .user = user, .door = door_text(door),
	    .address = address, .session = &p->id,
	    .action = dbg_deed_action(deed), .result = result });
}

static void
end_spell(const struct dbgproc *p, struct dbg_spell *s)
{
	char text[64];

	if (s->deed != DBG_DEED_NONE && s->count > 0) {
		(void)snprintf(text, sizeof(text), "%u more within a minute, "
		    "%u of them refused", s->count, s->refused);
		write_line(p, s->user, s->door, s->address, s->deed, text);
	}
	s->deed = DBG_DEED_NONE;
	s->count = s->refused = 0;
}

static void
on_spell(void *arg)
{
	struct dbgproc *p = arg;
	bool left = false;
	size_t i;

	for (i = 0; i < DBG_SPELLS; i++) {
		if (loop_now_ms() - p->spells[i].since >= SPELL_MS)
			end_spell(p, &p->spells[i]);
		left |= p->spells[i].deed != DBG_DEED_NONE;
	}
	if (left)
		loop_timer_set(&p->spell_timer, SPELL_MS / 4, on_spell, p);
}

/* True: a line about it has been written, or one tells how many there were. */
static bool
is_counted(struct dbgproc *p, const struct dbg_asked *q, bool failed)
{
	struct dbg_spell *s, *oldest = p->spells;

	for (s = p->spells; s < p->spells + DBG_SPELLS; s++) {
		if (s->deed == q->deed && s->door == q->asker.door &&
		    strcmp(s->user, q->user) == 0) {
			s->count++;
			s->refused += failed;
			return true;
		}
		if (s->since < oldest->since)
			oldest = s;
	}
	end_spell(p, oldest);
	oldest->deed = q->deed;
	oldest->door = q->asker.door;
	oldest->since = loop_now_ms();
	memcpy(oldest->user, q->user, sizeof(oldest->user));
	memcpy(oldest->address, q->asker.address, sizeof(oldest->address));
	if (p->spell_timer.slot == 0)
		loop_timer_set(&p->spell_timer, SPELL_MS, on_spell, p);
	return false;
}

void
dbgaudit_done(struct dbgproc *p, const struct dbg_asked *q, bool failed)
{
	if (q->deed == DBG_DEED_NONE ||
	    (dbg_deed_is_often(q->deed) && is_counted(p, q, failed)))
		return;
	if (q->asker.owner == NULL)
		write_line(p, q->user, q->asker.door, q->asker.address,
		    q->deed, failed ? "refused" : "ok");
	else
		activity_answer(&q->asker, &p->id, failed ?
		    ERR_DEBUGGER_REFUSED : ERR_OK, "");
}

void
dbgaudit_left(struct dbgproc *p, const struct dbg_asked *q)
{
	if (q->deed != DBG_DEED_NONE)
		write_line(p, q->user, q->asker.door, q->asker.address,
		    q->deed, "begun (who asked has not waited)");
}

void
dbgaudit_end(struct dbgproc *p)
{
	size_t i;

	loop_timer_unset(&p->spell_timer);
	for (i = 0; i < DBG_SPELLS; i++)
		end_spell(p, &p->spells[i]);
}

