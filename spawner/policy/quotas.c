/* SPDX-License-Identifier: ISC */
/* QUOTA: what users may have, and what they have of it. */
#include <stdlib.h>
#include <string.h>

#include "quota.h"
#include "quotas.h"
#include "spawner/client/answer.h"
#include "spawner/link/peers.h"
#include "wire/handlers.h"
#include "wire/role.h"

/* Rows of one QUOTA_ROWS: each is below 200 bytes. */
#define PART_ROWS	600

/*
 * Waits for the account of a user who has not been seen here yet, then for what
 * the launcher knows of that user's sessions.
 */
struct asked {
	LIST_ENTRY(asked) next;
	struct asker	 asker;
	uint64_t	 serial;
	char		 name[USER_NAME_MAX];
	bool		 use;		/* the second of the two */
	uint32_t	 uid;		/* or USER_ALL */
};

static LIST_HEAD(, asked) asked = LIST_HEAD_INITIALIZER(asked);
/* A user seen nowhere yet: no sessions, so nothing is kept for them. */
static struct owner unseen;

static void
put_row(struct msg_out *o, const struct owner *w)
{
	struct quota q;
	size_t i;

	quota_of(w, &q);
	msg_put_str(o, w->name);
	msg_put_u64(o, quota_used(w, QUOTA_SESSIONS));
	msg_put_u64(o, quota_used(w, QUOTA_BYTES));
	msg_put_u64(o, w->use.memory);
	msg_put_u64(o, w->use.processes);
	for (i = 0; i < QUOTA_COUNT; i++)
		msg_put_u64(o, q.most[i]);
}

static void
send_one(struct asker *a, const struct owner *w)
{
	struct msg_out *o = answer_new(a, MSG_QUOTA_ROWS, NULL);

	msg_put_u32(o, 1);
	put_row(o, w);
	msg_put_u32(o, 0);
	(void)answer_with(a, o, -1);
	a->owner = NULL;
}

/* The next in the list who has something; w is looked at first. */
static const struct owner *
with_use(const struct owner *w)
{
	while (w != NULL && quota_used(w, QUOTA_SESSIONS) == 0)
		w = LIST_NEXT(w, next);
	return w;
}

static void
send_all(struct asker *a)
{
	const struct owner *w = with_use(LIST_FIRST(&owners)), *end;
	struct msg_out *o;
	uint32_t n;

	do {
		end = w;
		for (n = 0; end != NULL && n < PART_ROWS; n++)
			end = with_use(LIST_NEXT(end, next));
		o = answer_new(a, MSG_QUOTA_ROWS, NULL);
		msg_put_u32(o, n);
		for (; w != end; w = with_use(LIST_NEXT(w, next)))
			put_row(o, w);
		msg_put_u32(o, end != NULL);
		if (answer_with(a, o, -1) == -1)
			break;
	} while (end != NULL);
	a->owner = NULL;
}

static void
asked_free(struct asked *p)
{
	LIST_REMOVE(p, next);
	free(p);
}

static struct asked *
asked_find(uint64_t serial, bool use)
{
	struct asked *p;

	LIST_FOREACH(p, &asked, next)
		if (p->serial == serial && p->use == use)
			return p;
	return NULL;
}

/* NULL: the asker has been told why not. */
static struct asked *
asked_new(struct asker *a)
{
	struct asked *p;

	/* netproc has one question of each connection at a time */
	LIST_FOREACH(p, &asked, next)
		if (p->asker.conn == a->conn) {
			answer(a, NULL, ERR_BUSY, NULL);
			return NULL;
		}
	p = calloc(1, sizeof(*p));
	if (p == NULL) {
		answer(a, NULL, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	p->asker = *a;
	p->serial = next_serial();
	LIST_INSERT_HEAD(&asked, p, next);
	return p;
}

/* -- what the kernel counts, by the launcher ------------------------------ */

static void
reset_use(struct owner *o, bool counted)
{
	uint64_t has = counted ? settings.controllers : 0;

	/* who has no cgroup has no processes in it */
	o->use.memory = has & CONTROLLER_MEMORY ? 0 : USAGE_UNKNOWN;
	o->use.processes = has & CONTROLLER_PIDS ? 0 : USAGE_UNKNOWN;
}

static void
reset_uses(bool counted)
{
	struct owner *o;

	OWNER_FOREACH(o)
		reset_use(o, counted);
	reset_use(&unseen, counted);
}

static void
finish(struct asked *p)
{
	struct owner *o = owner_by_uid(p->uid);

	if (p->uid == USER_ALL)
		send_all(&p->asker);
	else
		send_one(&p->asker, o != NULL ? o : &unseen);
	asked_free(p);
}

static void
ask_use(struct asked *p, uint32_t uid)
{
	struct msg_out *m = msg_new(MSG_USER_USE, NULL, 0, p->serial);

	p->use = true;
	p->uid = uid;
	msg_put_u32(m, uid);
	if (settings.controllers != 0 &&
	    chan_send(&launcher_chan, m, -1) == 0)
		return;
	reset_uses(false);
	finish(p);
}

int
spawn_on_user_used(struct msg *m)
{
	struct asked *p = asked_find(m->hdr.request, true);
	uint32_t n = msg_get_u32(m);
	uint64_t memory, processes;
	struct owner *o;

	reset_uses(true);
	for (; n > 0 && !m->bad; n--) {
		o = owner_by_uid(msg_get_u32(m));
		memory = msg_get_u64(m);
		processes = msg_get_u64(m);
		if (o == NULL)
			continue;
		o->use.memory = memory;
		o->use.processes = processes;
	}
	if (msg_end(m) == -1)
		return -1;
	if (p != NULL)
		finish(p);
	return 0;
}

void
quotas_launcher_lost(void)
{
	struct asked *p, *next;

	reset_uses(false);
	for (p = LIST_FIRST(&asked); p != NULL; p = next) {
		next = LIST_NEXT(p, next);
		if (p->use)
			finish(p);
	}
}

/* -- the command ---------------------------------------------------------- */

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct asked *p = asked_find(serial, false);

	if (p == NULL)
		return;
	if (acc == NULL) {
		if (account_unasked())
			answer(&p->asker, NULL, ERR_TRY_AGAIN, NULL);
		else
			answer(&p->asker, NULL, ERR_INVALID_ARGUMENT, "no user "
			    "%s who could have sessions here", p->name);
		asked_free(p);
		return;
	}
	unseen.uid = acc->rights.uid;
	unseen.account = *acc;
	memcpy(unseen.name, acc->name, sizeof(unseen.name));
	ask_use(p, unseen.uid);
}

static void
ask_by_name(struct asker *a, const char *name)
{
	struct asked *p = asked_new(a);

	if (p == NULL)
		return;
	memcpy(p->name, name, sizeof(p->name));
	if (account_want_name(name, on_account, p->serial) == -1) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		asked_free(p);
	}
}

static void
ask_known(struct asker *a, uint32_t uid)
{
	struct asked *p = asked_new(a);

	if (p != NULL)
		ask_use(p, uid);
}

void
quotas_drop_waiting(void)
{
	struct asked *p;

	while ((p = LIST_FIRST(&asked)) != NULL)
		asked_free(p);
}

int
spawn_on_quota(struct msg *m)
{
	char name[USER_NAME_MAX];
	struct asker a;

	memset(name, 0, sizeof(name));
	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1 || !asker_init(&a, m, NULL))
		return -1;
	if (strcmp(name, a.owner->name) == 0 ||
	    (name[0] == '\0' && !(a.flags & PRINCIPAL_ADMIN)))
		ask_known(&a, a.owner->uid);
	else if (!asker_is_admin(&a))
		answer(&a, NULL, ERR_NOT_PERMITTED, "the quotas of others are "
		    "for administrators; quota alone shows yours");
	else if (name[0] == '\0')
		ask_known(&a, USER_ALL);
	else
		ask_by_name(&a, name);
	return 0;
}
