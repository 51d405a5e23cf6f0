/* SPDX-License-Identifier: ISC */
/* Requests to debuggers: to which one, and who may ask for how much. */
#include "debugger.h"
#include "wire/handlers.h"
#include "wire/role.h"

/*
 * Is the asker this user on this host, with all the user's rights there?  A
 * token, a cookie and a rule give what sessions may do, and no more.
 */
bool
dbg_is_at_home(const struct asker *a)
{
	return role_mode == MODE_USER && settings.control == 0 &&
	    (a->flags & (PRINCIPAL_BY_TOKEN | PRINCIPAL_BY_RULE |
	    PRINCIPAL_BY_KEY | PRINCIPAL_GUEST | PRINCIPAL_READ_ONLY)) == 0;
}

bool
dbg_is_too_far(const struct dbgproc *p, const struct asker *a)
{
	return p->host && !p->inside && !dbg_is_at_home(a) &&
	    !(settings.allow_sandbox & 1U << SANDBOX_NONE);
}

/* -- which ---------------------------------------------------------------- */

void
dbg_use(struct dbgproc *p)
{
	static uint64_t times;
	struct inst *other;

	p->current = ++times;
	LIST_FOREACH(other, &insts, next)
		if (other->kind == &dbg_kind && other->session != NULL &&
		    other->session->owner == p->i.session->owner &&
		    other->session->view.debugger_current !=
		    (other == &p->i)) {
			other->session->view.debugger_current =
			    other == &p->i;
			dbg_show(other->session);
		}
}

/* The owner's debugger that was made or used last. */
static const struct dbgproc *
current_of(const struct owner *o)
{
	const struct dbgproc *p, *best = NULL;
	struct inst *i;

	LIST_FOREACH(i, &insts, next) {
		p = (const struct dbgproc *)i;
		if (i->kind == &dbg_kind && i->session != NULL &&
		    i->session->owner == o &&
		    (best == NULL || p->current > best->current))
			best = p;
	}
	return best;
}

bool
dbg_has_current(const struct owner *o)
{
	const struct dbgproc *p = current_of(o);

	return p != NULL && p->current != 0;
}

struct session *
dbg_current(const struct owner *o)
{
	const struct dbgproc *p = current_of(o);

	return p == NULL ? NULL : p->i.session;
}

/* -- questions to it ------------------------------------------------------ */

/* Which one is meant from now on is the owner's to change. */
void
dbg_asked(struct session *s, const struct asker *a, bool use)
{
	if (use && s->dbg != NULL && s->owner == a->owner &&
	    !(a->flags & PRINCIPAL_READ_ONLY))
		dbg_use(s->dbg);
}

void
dbg_absent(struct session *s, struct asker *a, const char *json, size_t len)
{
	(void)json;
	(void)len;
	answer(a, &s->id, ERR_NO_DEBUGGER, "this session has no debugger; "
	    "`debugger attach` gives one to a session that runs");
}
