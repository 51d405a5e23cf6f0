/* SPDX-License-Identifier: ISC */
/*
 * TOKEN create, list and revoke: asked of the spawner.  A token goes through
 * here once, from its message to the one client that made it.
 */
#include <string.h>

#include "command.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/rows.h"
#include "token.h"

/* As the spawner has it: a hundred years. */
#define LIFE_MAX_S	(UINT64_C(100) * 366 * 86400)
#define ID_LEN		8
/* The longest answer to TOKEN create, were every byte of it escaped. */
#define ROOM		4096
#define NS		1000000000LL

struct wanted {
	struct word	 user, label;	/* empty = not given */
	uint64_t	 life_s;	/* 0 = does not expire */
	uint32_t	 flags;
};

static bool
has_key(const struct word *w, const char *key, struct word *value)
{
	size_t n = strlen(key);

	if (w->len < n || memcmp(w->p, key, n) != 0)
		return false;
	*value = (struct word){ w->p + n, w->len - n };
	return true;
}

/* NULL or what is wrong. */
static const char *
create_option(const struct word *w, struct wanted *want)
{
	struct word v;

	if (word_is(w, "read-only")) {
		want->flags |= TOKEN_READ_ONLY;
		return NULL;
	}
	if (has_key(w, "expires=", &v))
		return number_parse(&v, LIFE_MAX_S, &want->life_s) == NULL &&
		    want->life_s > 0 ? NULL : "expires= takes seconds from 1 "
		    "to 3162240000, a hundred years; without it a token does "
		    "not expire";
	if (has_key(w, "user=", &v)) {
		want->user = v;
		return v.len > 0 && v.len < USER_NAME_MAX ? NULL :
		    "user= takes the name of a user";
	}
	if (has_key(w, "label=", &v)) {
		want->label = v;
		return v.len > 0 && v.len <= LABEL_MAX ? NULL :
		    "label= takes 1 to 64 letters, digits, '.', '_' or '-'";
	}
	return "there is no such option";
}

/* -- answers -------------------------------------------------------------- */

static void
member(struct text *t, const char *key, struct msg *m)
{
	size_t len;
	const void *p = msg_get_blob(m, &len);

	json_key(t, key);
	if (len > 0)
		json_string(t, p, len);
	else
		json_raw(t, "null");
}

static void
time_member(struct text *t, const char *key, struct msg *m)
{
	uint64_t s = msg_get_u64(m);
	char when[TIME_TEXT];

	json_key(t, key);
	if (s > 0 && s <= INT64_MAX / NS)
		json_text(t, time_text((int64_t)s * NS, false, when));
	else
		json_raw(t, "null");
}

static void
row_json(struct text *t, struct msg *m)
{
	member(t, "id", m);
	member(t, "user", m);
	json_key(t, "read_only");
	json_raw(t, msg_get_u32(m) != 0 ? "true" : "false");
	time_member(t, "created", m);
	time_member(t, "expires", m);
	member(t, "label", m);
}

static void
list_row(struct text *t, struct msg *m)
{
	text_puts(t, "{");
	row_json(t, m);
	json_close(t, '}');
}

static void
create_failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

int
net_on_token(struct msg *m)
{
	struct conn *c = ask_find(m);
	struct text *t = answer_begin();

	/* so that it is in one place, which is wiped */
	(void)text_room(t, ROOM);
	json_open(t, '{');
	member(t, "token", m);
	row_json(t, m);
	json_close(t, '}');
	if (msg_end(m) == -1)
		return -1;
	if (c != NULL && ask_state(c)->fn != create_failed)
		return -1;
	if (c != NULL) {
		conn_enter(c, &mode_line);
		conn_secret(c);
		answer_end(c);
	}
	answer_wipe();
	if (c != NULL)
		conn_run(c);
	return 0;
}

int
net_on_token_rows(struct msg *m)
{
	return rows_part(m, list_row);
}

static void
revoke_done(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	struct text *t;

	if (err != ERR_OK) {
		answer_error(c, err, msg);
		return;
	}
	t = answer_begin();
	json_open(t, '{');
	json_key(t, "ok");
	json_raw(t, "true");
	json_key(t, "id");
	json_string(t, a->token, ID_LEN);
	json_close(t, '}');
	answer_end(c);
}

/* -- the commands --------------------------------------------------------- */

static void
token_create(struct conn *c, const struct words *ws)
{
	struct wanted want = { .life_s = 0 };
	const char *why = NULL;
	struct msg_out *o;
	size_t i;

	for (i = 2; why == NULL && i < ws->n; i++)
		why = create_option(&ws->w[i], &want);
	if (why != NULL) {
		command_misused(c, ws, why);
		return;
	}
	o = ask_new(c, MSG_TOKEN_CREATE, NULL);
	msg_put_u32(o, want.flags);
	msg_put_u64(o, want.life_s);
	msg_put_blob(o, want.user.p, want.user.len);
	msg_put_blob(o, want.label.p, want.label.len);
	ask_send(c, o, (struct ask){ .fn = create_failed });
}

static void
token_list(struct conn *c, const struct words *ws)
{
	if (ws->n > 2) {
		command_misused(c, ws, "too many arguments");
		return;
	}
	rows_ask(c, ask_new(c, MSG_TOKEN_LIST, NULL), list_row);
}

static void
token_revoke(struct conn *c, const struct words *ws)
{
	struct ask how = { .fn = revoke_done };
	struct msg_out *o;

	if (ws->n != 3) {
		command_misused(c, ws, ws->n < 3 ? "missing argument" :
		    "too many arguments");
		return;
	}
	if (ws->w[2].len != ID_LEN) {
		command_misused(c, ws, "<token-id> is 8 hexadecimal digits, "
		    "as TOKEN list shows them");
		return;
	}
	memcpy(how.token, ws->w[2].p, ID_LEN);
	o = ask_new(c, MSG_TOKEN_REVOKE, NULL);
	msg_put_blob(o, ws->w[2].p, ws->w[2].len);
	ask_send(c, o, how);
}

void
cmd_token(struct conn *c, struct rsession *s, const struct words *ws)
{
	static const struct {
		const char	*word;
		void		 (*run)(struct conn *, const struct words *);
	} forms[] = {
		{ "create", token_create },
		{ "list", token_list },
		{ "revoke", token_revoke },
	};
	size_t i;

	(void)s;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (word_is(&ws->w[1], forms[i].word)) {
			forms[i].run(c, ws);
			return;
		}
	command_misused(c, ws, "it is create, list or revoke");
}
