/* SPDX-License-Identifier: ISC */
/* QUOTA: what users may have, and what they have of it. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "handlers.h"
#include "peers.h"
#include "quota.h"
#include "quotas.h"
#include "role.h"

/* Rows of one QUOTA_ROWS: each is below 100 bytes. */
#define PART_ROWS	1000

/* Waits for the account of a user whom nobody has seen here yet. */
struct asked {
	LIST_ENTRY(asked) next;
	struct asker	 asker;
	uint64_t	 serial;
	char		 name[USER_NAME_MAX];
};

static LIST_HEAD(, asked) asked = LIST_HEAD_INITIALIZER(asked);

static void
put_row(struct msg_out *o, const struct owner *w)
{
	struct quota q;
	size_t i;

	quota_of(w, &q);
	msg_put_str(o, w->name);
	msg_put_u64(o, quota_used(w, QUOTA_SESSIONS));
	msg_put_u64(o, quota_used(w, QUOTA_BYTES));
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

static void
on_account(const struct account *acc, uint64_t serial)
{
	static struct owner unseen;
	struct asked *p;

	LIST_FOREACH(p, &asked, next)
		if (p->serial == serial)
			break;
	if (p == NULL)
		return;
	if (acc == NULL)
		answer(&p->asker, NULL, ERR_INVALID_ARGUMENT, "no user %s who "
		    "could have sessions here", p->name);
	else if (owner_by_uid(acc->rights.uid) != NULL)
		send_one(&p->asker, owner_by_uid(acc->rights.uid));
	else {
		unseen.uid = acc->rights.uid;
		unseen.account = *acc;
		memcpy(unseen.name, acc->name, sizeof(unseen.name));
		send_one(&p->asker, &unseen);
	}
	asked_free(p);
}

static void
ask(struct asker *a, const char *name)
{
	struct asked *p;

	/* netproc has one question of each connection at a time */
	LIST_FOREACH(p, &asked, next)
		if (p->asker.conn == a->conn) {
			answer(a, NULL, ERR_BUSY, NULL);
			return;
		}
	p = calloc(1, sizeof(*p));
	if (p == NULL) {
		answer(a, NULL, ERR_INTERNAL, "out of memory");
		return;
	}
	p->asker = *a;
	p->serial = next_serial();
	memcpy(p->name, name, sizeof(p->name));
	LIST_INSERT_HEAD(&asked, p, next);
	if (account_want_name(name, on_account, p->serial) == -1) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		asked_free(p);
	}
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
		send_one(&a, a.owner);
	else if (!asker_is_admin(&a))
		answer(&a, NULL, ERR_NOT_PERMITTED, "the quotas of others are "
		    "for administrators; QUOTA alone shows yours");
	else if (name[0] == '\0')
		send_all(&a);
	else
		ask(&a, name);
	return 0;
}
