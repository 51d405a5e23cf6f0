/* SPDX-License-Identifier: ISC */
/*
 * The beginning of an instrument: for a session that is there, or for a
 * program that only the instrument knows, with a session of its making.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument.h"
#include "spawner/client/activity.h"
#include "spawner/image/upload.h"
#include "spawner/link/peers.h"
#include "spawner/run/command.h"
#include "spawner/run/expiry.h"
#include "spawner/run/start.h"
#include "spawner/run/stop.h"
#include "spawner/run/vars.h"
#include "wire/insthello.h"
#include "wire/role.h"

#define STARTS_OF_ONE	4
/* Limit of the numbers that are added to labels already taken. */
#define NUMBERS_MAX	1000

static LIST_HEAD(, inst_start) starts = LIST_HEAD_INITIALIZER(starts);

static void
start_free(struct inst_start *st)
{
	LIST_REMOVE(st, next);
	free(st->json);
	free(st);
}

void
inst_drop_starts(uint32_t conn)
{
	struct inst_start *st, *next;

	for (st = LIST_FIRST(&starts); st != NULL; st = next) {
		next = LIST_NEXT(st, next);
		if (conn == 0 || st->asker.conn == conn)
			start_free(st);
	}
}

/* The label that was asked for or, if it is taken, that with a number. */
static enum err
give_label(struct session *s, const struct inst_start *st, char *why,
    size_t size)
{
	char label[sizeof(st->label)];
	enum err err = st->label[0] == '\0' ? ERR_OK :
	    vars_label(s, st->label, why, size);
	unsigned int n;

	/* with why the label is another's, without it is no label at all */
	for (n = 2; err != ERR_OK && why[0] != '\0' && st->kind->numbered &&
	    n < NUMBERS_MAX; n++) {
		if (snprintf(label, sizeof(label), "%s-%u", st->label, n) >=
		    (int)sizeof(label))
			break;
		err = vars_label(s, label, why, size);
	}
	return err;
}

/* NULL when it is answered. */
static struct session *
make_session(struct inst_start *st)
{
	struct session *s;
	enum err err;
	char why[200];

	if (upload_is_full(&st->asker, 0))
		return NULL;
	s = session_new(st->asker.owner);
	if (s == NULL || (s->program = strdup(st->kind->order.name)) == NULL) {
		answer(&st->asker, NULL, ERR_INTERNAL, "out of memory");
		if (s != NULL)
			session_free(s);
		return NULL;
	}
	s->view.command = s->view.ephemeral = true;
	s->by_rule = (st->asker.flags & PRINCIPAL_BY_RULE) != 0;
	err = give_label(s, st, why, sizeof(why));
	if (err != ERR_OK) {
		answer(&st->asker, NULL, err, "%s", why);
		session_free(s);
		return NULL;
	}
	command_show(s);
	session_set_state(s, STATE_LOADED);
	expiry_begin(s);
	return s;
}

/*
 * The session that the asker named; NULL when the request is answered, or the
 * session has such an instrument already.
 */
static struct session *
order_target(struct inst_start *st)
{
	struct session *s = session_find(&st->target);
	struct asker *a = &st->asker;
	enum access access = s == NULL ? ACCESS_NONE : access_of(a->viewer, s);

	if (access == ACCESS_NONE || !session_is_shown(s))
		answer(a, &st->target, ERR_NOT_FOUND, NULL);
	else if (access < ACCESS_USE && !st->again)
		answer(a, &s->id, ERR_READ_ONLY, NULL);
	else if (st->kind->of(s) != NULL)
		inst_ask(st->kind->of(s), a, st->json, st->json_len);
	else if (!st->kind->is_fit(st, s))
		return NULL;
	else if (s->state == STATE_STARTING || s->stop.stage != STOP_NONE)
		answer(a, &s->id, ERR_BUSY, NULL);
	else
		return s;
	return NULL;
}

void
inst_greet(struct inst_hello *h, const struct session *s, bool runs)
{
	const struct session_view *v = &s->view;

	h->user_mode = role_mode == MODE_USER;
	(void)snprintf(h->home, sizeof(h->home), "%s", s->owner->account.home);
	(void)snprintf(h->session, sizeof(h->session), "%s",
	    v->name[0] != '\0' ? v->name : s->text);
	(void)snprintf(h->id, sizeof(h->id), "%s", s->text);
	if (v->bundle)
		(void)snprintf(h->program, sizeof(h->program), "%s/%s",
		    v->bundle_dir, v->exec_path);
	else if (v->command && s->program != NULL && runs)
		(void)snprintf(h->program, sizeof(h->program), "%s",
		    s->program);
	h->args = s->argv;
	h->args_len = s->argv_len;
}

static void
begin(struct inst_start *st, const struct account *acc)
{
	struct session *s = st->has_target ? order_target(st) :
	    make_session(st);
	const char *name = st->kind->order.name;
	struct inst *i;

	if (s == NULL)
		return;
	i = inst_begin(st->kind, s, acc);
	if (i == NULL) {
		answer(&st->asker, NULL, ERR_TRY_AGAIN, "no %s could be "
		    "started; a user has at most 64 at a time", name);
		if (!st->has_target)
			session_free(s);
		return;
	}
	i->made = !st->has_target;
	st->kind->begun(i, st);
	activity_note(s->owner, &s->id, "a %s is started by %s", name,
	    st->asker.owner->name);
	inst_ask(i, &st->asker, st->json, st->json_len);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct inst_start *st;

	/* by number: its connection may have gone meanwhile */
	LIST_FOREACH(st, &starts, next)
		if (st->serial == serial)
			break;
	if (st == NULL)
		return;
	if (acc == NULL)
		answer(&st->asker, NULL, ERR_TRY_AGAIN, "the account that the "
		    "%s would have could not be read", st->kind->order.name);
	else
		begin(st, acc);
	start_free(st);
}

static bool
has_room(const struct asker *a)
{
	struct inst_start *st;
	unsigned int n = 0;

	LIST_FOREACH(st, &starts, next)
		n += st->asker.conn == a->conn;
	return n < STARTS_OF_ONE;
}

static bool
refused(struct asker *a, const struct inst_start *st)
{
	uint32_t sandbox = st->sandbox, network = st->network;

	if (a->flags & PRINCIPAL_READ_ONLY && !st->again)
		answer(a, NULL, ERR_READ_ONLY, NULL);
	else if (shutting_down || !chan_is_open(&launcher_chan))
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
	else if (!has_room(a))
		answer(a, NULL, ERR_BUSY, NULL);
	else
		return !start_allowed(a, NULL, &sandbox, &network);
	return true;
}

static void
begin_later(struct asker *a, const struct inst_start *asked, const char *json)
{
	struct inst_start *st = malloc(sizeof(*st));
	struct session *s = session_find(&asked->target);
	struct owner *o = asked->has_target && s != NULL ? s->owner : a->owner;

	if (st != NULL) {
		*st = *asked;
		st->asker = *a;
		st->serial = next_serial();
		st->json = malloc(asked->json_len);
	}
	if (st == NULL || st->json == NULL) {
		answer(a, NULL, ERR_INTERNAL, "out of memory");
		free(st);
		return;
	}
	memcpy(st->json, json, asked->json_len);
	LIST_INSERT_HEAD(&starts, st, next);
	if (account_want(o, on_account, st->serial) == -1) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		start_free(st);
	}
}

int
inst_start(const struct inst_kind *kind, struct msg *m)
{
	static const struct sid none;
	struct inst_start st = { .kind = kind, .sandbox = msg_get_u32(m) };
	const char *json;
	struct asker a;

	st.network = msg_get_u32(m);
	msg_get_str(m, st.label, sizeof(st.label));
	json = msg_get_rest(m, &st.json_len);
	st.target = m->hdr.session;
	st.has_target = memcmp(&st.target, &none, sizeof(none)) != 0;
	if (msg_end(m) == -1 || st.sandbox > SANDBOX_DEFAULT ||
	    st.network > NETWORK_DEFAULT || st.json_len < 2 ||
	    st.json_len > INST_REQUEST_MAX ||
	    !asker_init(&a, m, kind->start))
		return -1;
	if (!refused(&a, &st))
		begin_later(&a, &st, json);
	return 0;
}

void
inst_start_again(const struct inst_kind *kind, struct session *s,
    struct asker *a, const char *json, size_t len)
{
	const struct inst_start st = { .kind = kind, .target = s->id,
	    .has_target = true, .again = true, .sandbox = SANDBOX_DEFAULT,
	    .network = NETWORK_DEFAULT, .json_len = len };

	if (!refused(a, &st))
		begin_later(a, &st, json);
}
