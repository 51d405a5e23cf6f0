/* SPDX-License-Identifier: ISC */
/*
 * Shares: kept with the session, by uid.  A user with ACCESS_SEE reads the
 * session's state and output; a user with ACCESS_USE acts as its owner.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "client.h"
#include "share.h"
#include "spawner/link/peers.h"
#include "spawner/session/access.h"
#include "spawner/session/push.h"
#include "wire/handlers.h"
#include "wire/role.h"

#define SHARES_MAX	32

/* A SHARE whose user is being looked up; each connection has one at a time. */
struct pending {
	LIST_ENTRY(pending) next;
	struct asker	 asker;
	struct sid	 id;
	uint64_t	 serial;
	enum access	 access;
	char		 name[USER_NAME_MAX];
};

static LIST_HEAD(, pending) pending = LIST_HEAD_INITIALIZER(pending);

static void (*on_changed)(struct session *);

void
share_init(void (*fn)(struct session *))
{
	on_changed = fn;
}

/* "bob:ro", "eve:rw": what the session's viewers are told. */
static int
write_text(struct session *s)
{
	char *text = NULL;
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return -1;
	for (i = 0; i < s->nshares; i++)
		(void)fprintf(f, "%s:%s%c", s->shares[i].name,
		    s->shares[i].access == ACCESS_SEE ? "ro" : "rw", '\0');
	if (fclose(f) == EOF) {
		free(text);
		return -1;
	}
	free(s->shares_text);
	s->shares_text = text;
	s->view.shares = text;
	s->view.shares_len = len;
	return 0;
}

static void
changed(struct session *s, struct asker *a)
{
	if (write_text(s) == -1) {
		answer(a, &s->id, ERR_INTERNAL, "out of memory");
		return;
	}
	push_session(s);
	access_update(s);
	on_changed(s);
	answer(a, &s->id, ERR_OK, NULL);
}

static void
share_give(struct session *s, struct asker *a, const struct pending *p,
    uint32_t uid)
{
	struct share *h = access_share(s, uid), *more;

	if (h == NULL && s->nshares == SHARES_MAX) {
		answer(a, &s->id, ERR_INVALID_ARGUMENT, "a session is shared "
		    "with at most %d users; UNSHARE one first", SHARES_MAX);
		return;
	}
	if (h == NULL) {
		more = reallocarray(s->shares, s->nshares + 1, sizeof(*more));
		if (more == NULL) {
			answer(a, &s->id, ERR_INTERNAL, "out of memory");
			return;
		}
		s->shares = more;
		h = &more[s->nshares++];
		h->uid = uid;
		h->accepted = false;
		memcpy(h->name, p->name, sizeof(h->name));
	}
	h->access = p->access;
	changed(s, a);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct pending *p;
	struct session *s;
	struct asker a;

	LIST_FOREACH(p, &pending, next)
		if (p->serial == serial)
			break;
	if (p == NULL)
		return;
	LIST_REMOVE(p, next);
	a = p->asker;
	s = session_find(&p->id);
	/* check again: a share outlasts the asker's access */
	if (s == NULL || !session_is_shown(s) || !asker_stands(&a) ||
	    access_of(a.viewer, s) < ACCESS_OWN)
		answer(&a, &p->id, ERR_NOT_FOUND, NULL);
	else if (acc == NULL && account_unasked())
		answer(&a, &s->id, ERR_TRY_AGAIN, NULL);
	/* root has sessions as another user */
	else if (acc == NULL || strcmp(acc->name, p->name) != 0)
		answer(&a, &s->id, ERR_INVALID_ARGUMENT, "no user %s who "
		    "could have sessions here", p->name);
	else if (acc->rights.uid == s->owner->uid)
		answer(&a, &s->id, ERR_INVALID_ARGUMENT,
		    "%s is the session's owner", p->name);
	else
		share_give(s, &a, p, acc->rights.uid);
	free(p);
}

static bool
shares_already(uint32_t conn)
{
	struct pending *p;

	LIST_FOREACH(p, &pending, next)
		if (p->asker.conn == conn)
			return true;
	return false;
}

static void
share(struct session *s, struct asker *a, const char *name,
    enum access access)
{
	struct pending *p = shares_already(a->conn) ? NULL :
	    calloc(1, sizeof(*p));

	if (p == NULL) {
		answer(a, &s->id, ERR_TRY_AGAIN, NULL);
		return;
	}
	p->asker = *a;
	p->id = s->id;
	p->access = access;
	p->serial = next_serial();
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	if (account_want_name(name, on_account, p->serial) == 0) {
		LIST_INSERT_HEAD(&pending, p, next);
		return;
	}
	free(p);
	answer(a, &s->id, ERR_TRY_AGAIN, NULL);
}

static void
unshare(struct session *s, struct asker *a, const char *name)
{
	size_t i;

	for (i = 0; i < s->nshares; i++)
		if (strcmp(s->shares[i].name, name) == 0)
			break;
	if (i == s->nshares) {
		answer(a, &s->id, ERR_INVALID_ARGUMENT,
		    "the session is not shared with %s", name);
		return;
	}
	s->shares[i] = s->shares[--s->nshares];
	changed(s, a);
}

int
spawn_on_share(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint32_t access = msg_get_u32(m);
	char name[USER_NAME_MAX];
	struct asker a;

	msg_get_str(m, name, sizeof(name));
	if (msg_end(m) == -1 || access > ACCESS_USE ||
	    !asker_init(&a, m, access == ACCESS_NONE ? "UNSHARE" : "SHARE"))
		return -1;
	if (access_of(a.viewer, s) < ACCESS_OWN)
		answer(&a, &s->id, ERR_NOT_PERMITTED, "only its owner, %s, "
		    "shares a session", s->owner->name);
	else if (role_mode == MODE_USER)
		answer(&a, &s->id, ERR_NOT_PERMITTED, "this daemon serves one "
		    "user alone; start debuglanternd as root to share");
	else if (access == ACCESS_NONE)
		unshare(s, &a, name);
	else
		share(s, &a, name, access);
	return 0;
}

/*
 * Anybody can share a session under any label.  It counts for a user who has
 * named the session by its id before, and so knows which one it is.
 */
int
spawn_on_accept(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	struct share *h;
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "ACCEPT"))
		return -1;
	/* netproc may not have heard yet that it is gone, or shared no more */
	if (s == NULL || !session_is_shown(s) || a.viewer->only != NULL ||
	    access_of(a.viewer, s) == ACCESS_NONE)
		return 0;
	h = access_share(s, a.owner->uid);
	if (h == NULL || h->accepted)
		return 0;
	h->accepted = true;
	access_update(s);
	activity_answer(&a, &s->id, ERR_OK, "");
	return 0;
}
