/* SPDX-License-Identifier: ISC */
/* Commands that change a session by one request, or show what is known. */
#include <string.h>

#include "command.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/replica.h"
#include "netproc/conn/usage.h"
#include "session_cmds.h"
#include "terminal.h"
#include "wire/settings.h"

/* Longer than any daemon runs; sums of milliseconds cannot overflow. */
#define WAIT_MAX_S	(3650ULL * 86400)

/* -- from the replica ----------------------------------------------------- */

void
cmd_status(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)ws;
	answer_text(c, replica_json(c, s));
}

/* LIST: the first session that has not been written. */
static uint64_t *
next_seq(struct conn *c)
{
	return conn_state(c, uint64_t);
}

/*
 * A long list goes out in pieces, each true for the moment at which it is
 * made; sessions keep their order, so none comes twice or is left out.
 */
static bool
write_rows(struct conn *c, void (*row)(struct conn *, const struct rsession *))
{
	const struct rsession *s;
	const struct visible_session *g;
	size_t begin = conn_unsent(c);

	TAILQ_FOREACH(g, &c->owner->visible, by_owner) {
		s = g->session;
		if (s->seq < *next_seq(c))
			continue;
		if (conn_unsent(c) - begin > CONN_PIECE)
			return true;
		if (*next_seq(c) > 1)
			conn_write(c, ",", 1);
		row(c, s);
		*next_seq(c) = s->seq + 1;
	}
	conn_write(c, "]", 1);
	answer_close(c);
	conn_enter(c, &mode_line);
	return true;
}

static void
write_session(struct conn *c, const struct rsession *s)
{
	const struct text *t = replica_json(c, s);

	conn_write(c, t->p, t->len);
}

static void
write_usage(struct conn *c, const struct rsession *s)
{
	struct text *t = answer_begin();

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, s->id);
	usage_json(t, s);
	json_close(t, '}');
	answer_piece(c);
}

static bool
list_step(struct conn *c)
{
	return write_rows(c, write_session);
}

static bool
usage_step(struct conn *c)
{
	return write_rows(c, write_usage);
}

static const struct conn_mode mode_usage = {
	.name = "usage",
	.clock = CLOCK_IDLE,
	.step = usage_step,
};

static const struct conn_mode mode_list = {
	.name = "list",
	.clock = CLOCK_IDLE,
	.step = list_step,
};

void
cmd_list(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	conn_enter(c, &mode_list);
	*next_seq(c) = 1;
	answer_open(c);
	conn_write(c, "[", 1);
	(void)list_step(c);
}

void
cmd_usage(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)s;
	(void)ws;
	usage_look();
	conn_enter(c, &mode_usage);
	*next_seq(c) = 1;
	answer_open(c);
	conn_write(c, "[", 1);
	(void)usage_step(c);
}

void
cmd_envlist(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)ws;
	env_json(answer_begin(), s->view.env, s->view.env_len,
	    replica_may_use(c, s));
	answer_end(c);
}

/* -- WAIT ----------------------------------------------------------------- */

static void
wait_over(struct conn *c)
{
	struct sid sid;

	if (c->watched == NULL) {
		conn_enter(c, &mode_line);
		answer_error(c, ERR_NOT_FOUND, NULL);
		return;
	}
	sid = c->watched->sid;
	conn_enter(c, &mode_line);
	answer_session(c, &sid);
}

static bool
wait_step(struct conn *c)
{
	if (c->watched != NULL && c->watched->view.state != STATE_STOPPED)
		return false;
	wait_over(c);
	return true;
}

/* Looked at at once: the session may run again when the step is taken. */
static void
wait_changed(struct conn *c)
{
	(void)wait_step(c);
}

/* Without the spawner, the session's state is unknown; it may still exist. */
static void
wait_lost(struct conn *c)
{
	conn_enter(c, &mode_line);
	answer_error(c, ERR_TRY_AGAIN, NULL);
}

static const struct conn_mode mode_wait = {
	.name = "wait",
	.clock = CLOCK_NONE,
	.step = wait_step,
	.expired = wait_over,
	.changed = wait_changed,
	.lost = wait_lost,
};

void
cmd_wait(struct conn *c, struct rsession *s, const struct words *ws)
{
	uint64_t seconds = 0;
	const char *why = NULL;

	if (ws->n > 2)
		why = number_parse(&ws->w[2], WAIT_MAX_S, &seconds);
	if (why != NULL) {
		answer_errorf(c, ERR_INVALID_ARGUMENT,
		    "the number of seconds %s", why);
		return;
	}
	conn_enter(c, &mode_wait);
	conn_watch(c, s);
	if (ws->n > 2)
		c->due_ms = loop_now_ms() + seconds * 1000;
}

/* -- requests ------------------------------------------------------------- */

static void
ask_plain(struct conn *c, enum msg_type type, const struct rsession *s)
{
	ask_session(c, ask_new(c, type, &s->sid), &s->sid);
}

void
cmd_stop(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)ws;
	ask_plain(c, MSG_STOP, s);
}

void
cmd_kill(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)ws;
	ask_plain(c, MSG_KILL, s);
}

void
delete_done(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	char id[ID_TEXT];
	struct text *t;

	if (err != ERR_OK) {
		answer_error(c, err, msg);
		return;
	}
	t = answer_begin();
	json_open(t, '{');
	json_key(t, "id");
	json_text(t, id_text(&a->session, id));
	json_key(t, "state");
	json_text(t, "DELETED");
	json_close(t, '}');
	answer_end(c);
}

void
cmd_delete(struct conn *c, struct rsession *s, const struct words *ws)
{
	(void)ws;
	ask_send(c, ask_new(c, MSG_DELETE, &s->sid),
	    (struct ask){ .fn = delete_done, .session = s->sid });
}

struct choice {
	const char	*word;
	uint32_t	 value;
};

static const struct choice sandboxes[] = {
	{ "none", SANDBOX_NONE }, { "namespaces", SANDBOX_NAMESPACES },
	{ "tmpfs", SANDBOX_TMPFS }, { NULL, 0 }
};
static const struct choice networks[] = {
	{ "shared", NETWORK_SHARED }, { "none", NETWORK_NONE }, { NULL, 0 }
};

static const struct choice start_flags[] = {
	{ "--debug", START_DEBUG }, { "--split", START_SPLIT },
	{ "--tty", START_TTY }, { NULL, 0 }
};

/* Options of START; 0 columns or rows = as they were. */
struct start {
	uint32_t	 flags, sandbox, network, cols, rows;
};

static bool
choose(const struct choice *ch, const struct word *w, uint32_t *v)
{
	for (; ch->word != NULL; ch++)
		if (word_is(w, ch->word)) {
			*v = ch->value;
			return true;
		}
	return false;
}

/* Reads one option at word *i, moves *i on.  NULL or what is wrong. */
static const char *
start_option(const struct words *ws, size_t *i, struct start *st)
{
	const struct word *w = &ws->w[(*i)++], *value = &ws->w[*i];
	uint32_t flag;

	if (choose(start_flags, w, &flag)) {
		st->flags |= flag;
		return NULL;
	}
	if (word_is(w, "--sandbox"))
		return (*i)++ < ws->n && choose(sandboxes, value,
		    &st->sandbox) ? NULL :
		    "--sandbox is none, namespaces or tmpfs";
	if (word_is(w, "--network"))
		return (*i)++ < ws->n && choose(networks, value,
		    &st->network) ? NULL : "--network is shared or none";
	return terminal_size_option(w, &st->cols, &st->rows);
}

void
cmd_start(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct start st = { .sandbox = SANDBOX_DEFAULT,
	    .network = NETWORK_DEFAULT };
	const char *why = NULL;
	struct msg_out *o;
	size_t i = 2;

	if (ws->n >= WORDS_MAX)
		why = "too many arguments";
	while (why == NULL && i < ws->n)
		why = start_option(ws, &i, &st);
	if (why != NULL) {
		command_misused(c, ws, why);
		return;
	}
	o = ask_new(c, MSG_START, &s->sid);
	msg_put_u32(o, st.flags);
	msg_put_u32(o, st.sandbox);
	msg_put_u32(o, st.network);
	msg_put_u32(o, st.cols);
	msg_put_u32(o, st.rows);
	ask_session(c, o, &s->sid);
}

void
cmd_args(struct conn *c, struct rsession *s, const struct words *ws)
{
	static char vec[ARGS_MAX_BYTES];
	struct word rest = line_rest(ws, 2);
	struct msg_out *o;
	const char *why;
	size_t len = 0;

	why = rest.len > ARGS_MAX_BYTES ?
	    "there are too many bytes of arguments" :
	    args_split(&rest, vec, sizeof(vec), &len);
	if (why != NULL) {
		answer_errorf(c, ERR_INVALID_ARGS, "%s", why);
		return;
	}
	o = ask_new(c, MSG_ARGS, &s->sid);
	msg_put_blob(o, rest.p, rest.len);
	msg_put_blob(o, vec, len);
	ask_session(c, o, &s->sid);
}

void
cmd_env(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct word rest = line_rest(ws, 2);
	const char *why;
	struct msg_out *o;
	size_t eq;

	why = env_check(&rest, &eq);
	if (why != NULL) {
		answer_errorf(c, ERR_INVALID_ENV, "%s", why);
		return;
	}
	o = ask_new(c, MSG_ENV, &s->sid);
	msg_put_blob(o, rest.p, eq);
	msg_put_blob(o, rest.p + eq + 1, rest.len - eq - 1);
	ask_session(c, o, &s->sid);
}

void
cmd_envdel(struct conn *c, struct rsession *s, const struct words *ws)
{
	const char *why = env_check(&ws->w[2], NULL);
	struct msg_out *o;

	if (why != NULL) {
		answer_errorf(c, ERR_INVALID_ENV, "%s", why);
		return;
	}
	o = ask_new(c, MSG_ENVDEL, &s->sid);
	msg_put_blob(o, ws->w[2].p, ws->w[2].len);
	ask_session(c, o, &s->sid);
}

void
cmd_signal(struct conn *c, struct rsession *s, const struct words *ws)
{
	uint32_t sig = signal_parse(&ws->w[2]);
	struct msg_out *o;

	if (sig == 0) {
		answer_error(c, ERR_INVALID_ARGUMENT, "there is no such "
		    "signal; give a name like TERM or a number from 1 to 64");
		return;
	}
	o = ask_new(c, MSG_SIGNAL, &s->sid);
	msg_put_u32(o, sig);
	ask_session(c, o, &s->sid);
}

void
cmd_name(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct msg_out *o = NULL;

	if (ws->n > 2 && ws->w[2].len > LABEL_MAX) {
		answer_error(c, ERR_INVALID_NAME, NULL);
		return;
	}
	o = ask_new(c, MSG_LABEL, &s->sid);
	msg_put_blob(o, ws->w[2].p, ws->n > 2 ? ws->w[2].len : 0);
	ask_session(c, o, &s->sid);
}

/* "cpu=5" into its place; NULL or what is wrong. */
static const char *
limit_option(const struct word *w, uint32_t *mask, uint64_t *limits)
{
	static const char *const names[LIMIT_COUNT] = {
		[LIMIT_CPU] = "cpu=", [LIMIT_AS] = "as=",
		[LIMIT_NOFILE] = "nofile=", [LIMIT_NPROC] = "nproc=",
		[LIMIT_CORE] = "core=",
	};
	struct word value;
	size_t i, n;

	for (i = 0; i < LIMIT_COUNT; i++) {
		n = strlen(names[i]);
		if (w->len < n || memcmp(w->p, names[i], n) != 0)
			continue;
		value = (struct word){ w->p + n, w->len - n };
		*mask |= 1U << i;
		if (word_is(&value, "unlimited")) {
			limits[i] = LIMIT_UNLIMITED;
			return NULL;
		}
		return number_parse(&value, LIMIT_UNLIMITED - 1, &limits[i]) ==
		    NULL ? NULL : "a limit is a plain decimal number or "
		    "unlimited";
	}
	return "there is no such limit";
}

void
cmd_limits(struct conn *c, struct rsession *s, const struct words *ws)
{
	uint64_t limits[LIMIT_COUNT] = { 0 };
	const char *why = NULL;
	struct msg_out *o;
	uint32_t mask = 0;
	size_t i;

	for (i = 2; why == NULL && i < ws->n; i++)
		why = limit_option(&ws->w[i], &mask, limits);
	if (why != NULL) {
		command_misused(c, ws, why);
		return;
	}
	o = ask_new(c, MSG_LIMITS, &s->sid);
	msg_put_u32(o, mask);
	for (i = 0; i < LIMIT_COUNT; i++)
		msg_put_u64(o, limits[i]);
	ask_session(c, o, &s->sid);
}

/* -- SHARE ---------------------------------------------------------------- */

static void
share(struct conn *c, struct rsession *s, enum access access,
    const struct word *user)
{
	struct msg_out *o = ask_new(c, MSG_SHARE, &s->sid);

	msg_put_u32(o, access);
	msg_put_blob(o, user->p, user->len);
	ask_session(c, o, &s->sid);
}

void
cmd_share(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct word user = ws->w[2], mode = { "ro", 2 };
	const char *colon = memrchr(user.p, ':', user.len);

	if (colon != NULL) {
		mode.p = colon + 1;
		mode.len = user.len - (size_t)(mode.p - user.p);
		user.len = (size_t)(colon - user.p);
	}
	if (user.len == 0 || user.len >= USER_NAME_MAX ||
	    memchr(user.p, '\0', user.len) != NULL)
		command_misused(c, ws, "the user's name is missing or too long");
	else if (word_is(&mode, "ro"))
		share(c, s, ACCESS_SEE, &user);
	else if (word_is(&mode, "rw"))
		share(c, s, ACCESS_USE, &user);
	else
		command_misused(c, ws, "a share is ro or rw");
}

void
cmd_unshare(struct conn *c, struct rsession *s, const struct words *ws)
{
	const struct word *user = &ws->w[2];

	if (user->len >= USER_NAME_MAX ||
	    memchr(user->p, '\0', user->len) != NULL)
		command_misused(c, ws, "the user's name is too long");
	else
		share(c, s, ACCESS_NONE, user);
}
