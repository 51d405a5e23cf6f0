/* SPDX-License-Identifier: ISC */
/* Requests of clients to instruments: of which kind, and to which session's. */
#include <string.h>

#include "debugger.h"
#include "tracer.h"
#include "wire/handlers.h"

static const struct inst_kind *const kinds[INST_TYPES] = {
	[INST_DEBUGGER] = &dbg_kind,
	[INST_TRACER] = &trc_kind,
};

static const struct inst_kind *
kind_get(struct msg *m)
{
	uint32_t type = msg_get_u32(m);

	return type < INST_TYPES ? kinds[type] : NULL;
}

int
spawn_on_inst_start(struct msg *m)
{
	const struct inst_kind *kind = kind_get(m);

	return kind == NULL ? -1 : inst_start(kind, m);
}

/* NULL, after an answer, when the asker may see no such session. */
static struct session *
session_for(struct asker *a, const struct inst_kind *kind,
    const struct sid *id)
{
	static const struct sid none;
	struct session *s;

	if (kind->current != NULL && memcmp(id, &none, sizeof(none)) == 0) {
		s = kind->current(a->owner);
		if (s == NULL)
			answer(a, NULL, kind->none, NULL);
		return s;
	}
	s = session_find(id);
	if (s == NULL || access_of(a->viewer, s) < ACCESS_SEE ||
	    !session_is_shown(s)) {
		answer(a, id, ERR_NOT_FOUND, NULL);
		return NULL;
	}
	return s;
}

int
spawn_on_inst_ask(struct msg *m)
{
	const struct inst_kind *kind = kind_get(m);
	uint32_t use = msg_get_u32(m);
	struct session *s;
	struct asker a;
	const char *json;
	size_t len;

	json = msg_get_rest(m, &len);
	/* the one that is meant by default is a current one */
	if (msg_end(m) == -1 || kind == NULL ||
	    use > (kind->current != NULL) || len < 2 ||
	    len > INST_REQUEST_MAX || !asker_init(&a, m, NULL))
		return -1;
	s = session_for(&a, kind, &m->hdr.session);
	if (s == NULL)
		return 0;
	if (kind->asked != NULL)
		kind->asked(s, &a, use != 0);
	if (kind->of(s) != NULL)
		inst_ask(kind->of(s), &a, json, len);
	else
		kind->absent(s, &a, json, len);
	return 0;
}
