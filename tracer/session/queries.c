/* SPDX-License-Identifier: ISC */
/* The requests that only look: query, follow, sql, status. */
#include <json-c/json.h>

#include <string.h>

#include "base/json.h"
#include "base/loop.h"
#include "commands.h"
#include "session.h"
#include "timeline/query/query.h"
#include "timeline/query/vtab.h"
#include "tracer/engine/clock.h"
#include "tracer/record/timeline.h"

#define FOLLOW_MS	25000
#define LOOK_MS		50	/* between two looks at what has come */
#define SETTLE_MS	2	/* between looks for output that is under way */
#define SETTLE_NS	1000000000ULL	/* for so long it is waited for */
#define STATEMENT_MAX	SQL_LONGEST

static struct waiters	 asking = TAILQ_HEAD_INITIALIZER(asking);
static struct waiters	 following = TAILQ_HEAD_INITIALIZER(following);
static struct loop_timer ask_timer, follow_timer;
static uint64_t		 seen;		/* timeline_grown() at the last look */
static uint64_t		 seen_ms;	/* when it was last another */

/* Brings the timeline up to date. */
static void
catch_up(void)
{
	timeline_read();
	output_drain();
}

/*
 * Held until fn looks after them, in at most so many milliseconds: who comes
 * does not put off those that wait already.
 */
static struct waiter *
hold(struct waiters *list, struct op *op, uint64_t word,
    struct loop_timer *timer, uint64_t ms, loop_timer_fn fn)
{
	struct waiter *w;

	if (TAILQ_EMPTY(list))
		loop_timer_set(timer, ms, fn, NULL);
	w = waiter_add(list, op);
	w->word = word;
	return w;
}

/* -- what waits until all has come ---------------------------------------- */

static void
ask_again(void *arg)
{
	struct waiter *w, *next;
	uint64_t now = clock_ns();

	(void)arg;
	/* what is found now could not be sent */
	if (link_is_full()) {
		loop_timer_set(&ask_timer, LOOK_MS, ask_again, NULL);
		return;
	}
	catch_up();
	for (w = TAILQ_FIRST(&asking); w != NULL && !link_is_full(); w = next) {
		next = TAILQ_NEXT(w, entry);
		if (!w->op->answered && timeline_settled() < w->word &&
		    now - w->word < SETTLE_NS)
			continue;
		if (!w->op->answered)
			w->answer(w->op);
		waiter_drop(&asking, w);
	}
	if (!TAILQ_EMPTY(&asking))
		loop_timer_set(&ask_timer, SETTLE_MS, ask_again, NULL);
}

/*
 * Answers once everything up to the request is in the timeline.  Output of the
 * program may be under way, and later events are not shown before it.
 */
static void
when_settled(struct op *op, void (*answer)(struct op *))
{
	uint64_t now = clock_ns();

	catch_up();
	if (timeline_settled() >= now)
		answer(op);
	else
		hold(&asking, op, now, &ask_timer, SETTLE_MS,
		    ask_again)->answer = answer;
}

/* -- query ---------------------------------------------------------------- */

static void
add_list(struct text *t, const char *name, struct text *list)
{
	/* without it the answer would say that there is none */
	t->bad = t->bad || list->bad;
	/* more than [] */
	if (list->len > 2) {
		text_printf(t, ",\"%s\":", name);
		text_put(t, list->p, list->len);
	}
	text_free(list);
}

/* Adds what the timeline lacks, and why; each answer contains that. */
static void
add_gaps(struct text *t, bool withheld)
{
	const char *trouble = store_trouble(timeline_store());
	struct text losses = { .max = TEXT_MAX }, sampled = { .max = TEXT_MAX };
	struct store_stats s;

	/* into the object that ends there */
	t->len--;
	store_stats(timeline_store(), &s);
	if (s.evicted > 0)
		text_printf(t, ",\"evicted\":%llu",
		    (unsigned long long)s.evicted);
	if (s.lost_bytes > 0)
		text_printf(t, ",\"lostOutputBytes\":%llu",
		    (unsigned long long)s.lost_bytes);
	query_losses(timeline_store(), &losses);
	add_list(t, "losses", &losses);
	probing_sampled(&sampled);
	add_list(t, "sampled", &sampled);
	if (trouble != NULL) {
		text_puts(t, ",\"trouble\":");
		json_quoted(t, trouble, strlen(trouble));
	}
	if (withheld)
		text_puts(t, ",\"valuesWithheld\":true");
	text_puts(t, "}");
}

static int
run_query(const struct op *op, const struct query *q, struct text *t,
    char why[STORE_WHY])
{
	int ret;

	catch_up();
	store_names_only(timeline_store(), !op->ask.rw);
	timeline_busy(true);
	ret = query_run(timeline_store(), q, t, why);
	timeline_busy(false);
	if (ret == -1)
		text_free(t);
	else
		add_gaps(t, !op->ask.rw);
	return ret;
}

bool
query_allowed(struct op *op, const struct query *q)
{
	if (op->ask.rw || (!q->has_equals && q->ret_null == -1))
		return true;
	trace_fail(op, "READ_ONLY", "ask the session's owner for more than the "
	    "right to look", "\"returnValue\" asks for values, which are not "
	    "shown to clients with the right to look");
	return false;
}

static bool
read_query(struct op *op, struct json_object *args, struct query *q)
{
	struct json_object *o = args == NULL ? json_object_new_object() :
	    json_object_get(args);
	char why[STORE_WHY];
	int ret = query_parse(o, q, why);

	json_object_put(o);
	if (ret == -1)
		trace_fail(op, "INVALID_ARGUMENT", "correct the query", "%s",
		    why);
	else if (!query_allowed(op, q)) {
		query_free(q);
		ret = -1;
	}
	return ret == 0;
}

static void
answer_query(struct op *op)
{
	struct text t = { .max = TEXT_MAX };
	char why[STORE_WHY];
	struct query q;

	if (!read_query(op, op->args, &q))
		return;
	if (run_query(op, &q, &t, why) == -1)
		trace_fail(op, "INVALID_ARGUMENT", "correct the query", "%s",
		    why);
	else
		trace_reply(op, &t);
	query_free(&q);
}

static void
do_query(struct op *op)
{
	struct query q;

	/* what is wrong with it is said at once */
	if (!session_asked(op) || !read_query(op, op->args, &q))
		return;
	query_free(&q);
	when_settled(op, answer_query);
}

/* -- follow --------------------------------------------------------------- */

struct follow_args {
	const char	*after;
	int64_t		 wait_ms, limit;
	bool		 verbose;
};

static const struct param follow_params[] = {
	{ "afterEventId", PARAM_STRING, offsetof(struct follow_args, after),
	    false, 0, 40 },
	{ "wait_ms", PARAM_NUMBER, offsetof(struct follow_args, wait_ms),
	    false, 0, FOLLOW_MS },
	{ "limit", PARAM_NUMBER, offsetof(struct follow_args, limit), false,
	    1, QUERY_LIMIT_MAX },
	{ "verbose", PARAM_BOOL, offsetof(struct follow_args, verbose),
	    false, 0, 0 },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

/* The same without what only a follower has. */
static struct json_object *
query_of(struct op *op)
{
	struct json_object *o = json_object_new_object();

	if (op->args == NULL)
		return o;
	json_object_object_foreach(op->args, name, v) {
		if (strcmp(name, "wait_ms") != 0)
			json_object_object_add(o, name, json_object_get(v));
	}
	return o;
}

/* Whether it was answered: there was something, or it waits no longer. */
static bool
follow_once(struct op *op, bool last)
{
	struct json_object *args = query_of(op);
	struct text t = { .max = TEXT_MAX };
	char why[STORE_WHY];
	struct query q;
	bool done = true;

	if (!read_query(op, args, &q)) {
		json_object_put(args);
		return true;
	}
	if (run_query(op, &q, &t, why) == -1)
		trace_fail(op, "INVALID_ARGUMENT", "correct the query", "%s",
		    why);
	else if (last || strncmp(t.p, "{\"events\":[]", 12) != 0)
		trace_reply(op, &t);
	else {
		text_free(&t);
		done = false;
	}
	query_free(&q);
	json_object_put(args);
	return done;
}

/* Nothing comes any more, nor is what was written under way. */
static bool
is_over(uint64_t now)
{
	return strcmp(session_state(), "ended") == 0 &&
	    now - seen_ms > SETTLE_NS / 1000000;
}

static void
look(void *arg)
{
	struct waiter *w, *next;
	bool news = timeline_grown() != seen, over, late;
	uint64_t now = loop_now_ms();

	(void)arg;
	/* what is found now could not be sent */
	if (link_is_full()) {
		loop_timer_set(&follow_timer, LOOK_MS, look, NULL);
		return;
	}
	seen = timeline_grown();
	if (news)
		seen_ms = now;
	over = is_over(now);
	for (w = TAILQ_FIRST(&following); w != NULL; w = next) {
		next = TAILQ_NEXT(w, entry);
		late = over || now >= w->word;
		if (w->op->answered || ((news || late) &&
		    follow_once(w->op, late)))
			waiter_drop(&following, w);
	}
	if (!TAILQ_EMPTY(&following))
		loop_timer_set(&follow_timer, LOOK_MS, look, NULL);
}

static void
do_follow(struct op *op)
{
	struct follow_args a = { .wait_ms = FOLLOW_MS };

	if (!session_asked(op) || !op_params(op, follow_params, &a) ||
	    follow_once(op, a.wait_ms == 0))
		return;
	(void)hold(&following, op, loop_now_ms() + (uint64_t)a.wait_ms,
	    &follow_timer, LOOK_MS, look);
}

void
queries_stopping(void)
{
	static const char words[] = "tracing has been stopped meanwhile";

	waiters_fail(&asking, "SESSION_NOT_FOUND", NULL, words);
	waiters_fail(&following, "SESSION_NOT_FOUND", NULL, words);
}

/* -- sql ------------------------------------------------------------------ */

struct sql_args {
	const char	*statement;
	int64_t		 rows;
};

static const struct param sql_params[] = {
	{ "statement", PARAM_STRING, offsetof(struct sql_args, statement),
	    true, 0, STATEMENT_MAX },
	{ "rows", PARAM_NUMBER, offsetof(struct sql_args, rows), false, 1,
	    SQL_ROWS_MAX },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

static void
answer_sql(struct op *op)
{
	struct sql_args a = { .rows = SQL_ROWS };
	struct sql_limits limits = { .rows = 0 };
	struct text t = { .max = TEXT_MAX };
	char why[STORE_WHY];
	int ret;

	if (!op_params(op, sql_params, &a))
		return;
	limits.rows = (uint32_t)a.rows;
	catch_up();
	store_names_only(timeline_store(), !op->ask.rw);
	timeline_busy(true);
	ret = store_sql(timeline_store(), a.statement, strlen(a.statement),
	    &limits, &t, why);
	timeline_busy(false);
	if (ret == -1) {
		text_free(&t);
		trace_fail(op, "INVALID_ARGUMENT", "one SELECT on the tables "
		    "events and sessions", "%s", why);
	} else
		trace_reply(op, &t);
}

static void
do_sql(struct op *op)
{
	struct sql_args a = {.rows = SQL_ROWS};

	if (session_asked(op) && op_params(op, sql_params, &a))
		when_settled(op, answer_sql);
}

/* -- status --------------------------------------------------------------- */

static void
put_str(struct text *t, const char *name, const char *value)
{
	text_printf(t, ",\"%s\":", name);
	if (value == NULL)
		text_puts(t, "null");
	else
		json_quoted(t, value, strlen(value));
}

static void
put_num(struct text *t, const char *name, uint64_t v)
{
	text_printf(t, ",\"%s\":%llu", name, (unsigned long long)v);
}

static void
put_timeline(struct text *t)
{
	struct store *st = timeline_store();
	const struct store_meta *m = store_meta(st);
	struct store_stats s;

	store_stats(st, &s);
	put_str(t, "binary", m->binary_path);
	put_num(t, "startedAt", (uint64_t)m->started_at);
	put_num(t, "events", s.calls + s.texts);
	put_num(t, "collected", s.collected);
	put_num(t, "bytes", s.bytes);
	put_num(t, "bytesMost", s.most);
	put_num(t, "evicted", s.evicted);
	put_num(t, "lost", s.lost);
	put_num(t, "lostOutputBytes", s.lost_bytes);
	put_num(t, "threads", s.threads);
	text_puts(t, ",\"losses\":");
	query_losses(st, t);
	put_str(t, "trouble", store_trouble(st));
	put_str(t, "file", timeline_path());
	text_puts(t, ",\"functions\":");
	probing_functions(t);
}

static void
do_status(struct op *op)
{
	static const struct param none[] = { { NULL, PARAM_BOOL, 0, false, 0,
	    0 } };
	struct text t = { .max = TEXT_MAX };
	char nothing;

	if (!op_params(op, none, &nothing))
		return;
	if (timeline_store() != NULL)
		catch_up();
	text_puts(&t, "{\"sessionId\":");
	json_quoted(&t, session_hello.inst.session,
	    strlen(session_hello.inst.session));
	text_printf(&t, ",\"pid\":%d", (int)session_pid());
	put_str(&t, "state", session_state());
	put_str(&t, "projectRoot", session_root());
	text_puts(&t, ",\"patterns\":");
	probing_patterns(&t);
	put_num(&t, "hookedFunctions", probing_shown());
	if (timeline_store() != NULL)
		put_timeline(&t);
	text_puts(&t, "}");
	trace_reply(op, &t);
}

const struct command query_commands[] = {
	{ "query", true, TRC_ACTION_NONE, do_query },
	{ "follow", true, TRC_ACTION_NONE, do_follow },
	{ "sql", true, TRC_ACTION_NONE, do_sql },
	{ "status", true, TRC_ACTION_NONE, do_status },
	{ NULL, false, TRC_ACTION_NONE, NULL }
};
