/* SPDX-License-Identifier: ISC */
/*
 * Quotas.  A user's quota is decided anew at each query, so that neither a
 * reload nor a change of the user's groups leaves an old answer behind.
 */
#include <stdio.h>
#include <string.h>

#include "quota.h"
#include "spawner/link/peers.h"
#include "spawner/session/session.h"
#include "wire/handlers.h"
#include "wire/role.h"

/* as many as the configuration can have */
#define RULES_MAX	256

struct rule {
	uint32_t	kind, id;	/* enum quota_kind; uid or gid */
	char		name[256];	/* of the user or group */
	uint64_t	most[QUOTA_COUNT];
};

static struct {
	struct rule	v[RULES_MAX];
	size_t		n;
	bool		groups;		/* some are of groups */
} coming, in_force;

int
spawn_on_quota_rule(struct msg *m)
{
	struct rule *r = &coming.v[coming.n];
	size_t i;

	if (coming.n == RULES_MAX)
		return -1;
	r->kind = msg_get_u32(m);
	r->id = msg_get_u32(m);
	for (i = 0; i < QUOTA_COUNT; i++)
		r->most[i] = msg_get_u64(m);
	msg_get_str(m, r->name, sizeof(r->name));
	if (msg_end(m) == -1 || r->kind >= QUOTA_KINDS)
		return -1;
	coming.groups |= r->kind == QUOTA_GROUP;
	coming.n++;
	return 0;
}

int
spawn_on_quota_rules_end(struct msg *m)
{
	struct owner *o;

	in_force = coming;
	coming.n = 0;
	coming.groups = false;
	OWNER_FOREACH(o)
		if (quota_used(o, QUOTA_SESSIONS) > 0)
			quota_tell(o);
	return msg_end(m);
}

static bool
is_member(const struct account *a, uint32_t gid)
{
	uint32_t i;

	for (i = 0; i < a->nall; i++)
		if (a->all_groups[i] == gid)
			return true;
	return false;
}

static bool
fits(const struct rule *r, const struct owner *o, enum quota_kind kind)
{
	if (r->kind != kind)
		return false;
	if (kind == QUOTA_USER)
		return r->id == o->uid;
	return kind == QUOTA_DEFAULT || is_member(&o->account, r->id);
}

static const struct rule *
find_rule(const struct owner *o)
{
	static const enum quota_kind order[] = { QUOTA_USER, QUOTA_GROUP,
	    QUOTA_DEFAULT };
	size_t i, k;

	for (k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (i = 0; i < in_force.n; i++)
			if (fits(&in_force.v[i], o, order[k]))
				return &in_force.v[i];
	return NULL;
}

/* A user does not hold all places, unless there is no other. */
static void
usual_sessions(struct quota *q)
{
	q->usual_sessions = q->most[QUOTA_SESSIONS] == LIMIT_UNLIMITED &&
	    role_mode == MODE_SYSTEM &&
	    settings.max_sessions_per_user < settings.max_sessions;
	if (q->usual_sessions)
		q->most[QUOTA_SESSIONS] = settings.max_sessions_per_user;
}

void
quota_of(const struct owner *o, struct quota *q)
{
	static const char *const kinds[QUOTA_KINDS] = {
		[QUOTA_DEFAULT] = "default",
		[QUOTA_USER] = "user ",
		[QUOTA_GROUP] = "group ",
	};
	const struct rule *r = find_rule(o);
	size_t i;

	if (r == NULL) {
		q->title[0] = '\0';
		for (i = 0; i < QUOTA_COUNT; i++)
			q->most[i] = LIMIT_UNLIMITED;
	} else {
		(void)snprintf(q->title, sizeof(q->title), "quota %s%s",
		    kinds[r->kind], r->name);
		memcpy(q->most, r->most, sizeof(q->most));
	}
	usual_sessions(q);
}

void
quota_tell(struct owner *o)
{
	struct msg_out *m;
	struct quota q;

	if (settings.controllers == 0)
		return;
	quota_of(o, &q);
	if (q.most[QUOTA_MEMORY] == o->told.memory &&
	    q.most[QUOTA_PROCESSES] == o->told.processes)
		return;
	o->told.memory = q.most[QUOTA_MEMORY];
	o->told.processes = q.most[QUOTA_PROCESSES];
	m = msg_new(MSG_USER_LIMITS, NULL, 0, 0);
	msg_put_u32(m, o->uid);
	msg_put_u64(m, o->told.memory);
	msg_put_u64(m, o->told.processes);
	(void)chan_send(&launcher_chan, m, -1);
}

/* Another may not have heard it. */
void
quota_launcher_lost(void)
{
	struct owner *o;

	OWNER_FOREACH(o)
		o->told.memory = o->told.processes = 0;
}

bool
quota_is_known(const struct owner *o)
{
	return !in_force.groups || o->account.asked_ms != 0;
}

uint64_t
quota_used(const struct owner *o, enum quota_what what)
{
	struct session *s;
	uint64_t n = 0;

	SESSION_FOREACH(s)
		if (s->owner == o)
			n += what == QUOTA_SESSIONS ? 1 : s->bytes;
	return n;
}

uint64_t
quota_room(const struct owner *o, const struct quota *q, enum quota_what what)
{
	uint64_t used = quota_used(o, what);

	return used < q->most[what] ? q->most[what] - used : 0;
}
