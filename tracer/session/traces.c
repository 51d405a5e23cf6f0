/* SPDX-License-Identifier: ISC */
/* The requests trace and functions. */
#include <json-c/json.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "commands.h"
#include "launch.h"
#include "session.h"
#include "trace_request.h"
#include "tracer/binary/fn.h"
#include "tracer/probe/plan.h"
#include "tracer/record/timeline.h"
#include "tracer/syms/match.h"

#define BUDGET_MOST	1000000000LL
#define PAGE		100		/* functions, unless asked */
#define PAGE_MOST	1000

/* -- arguments ------------------------------------------------------------ */

struct trace_args {
	struct json_object *add, *addresses, *remove;
	const char	*root;
	bool		 raw, follow;
	int64_t		 budget;
};

static const struct param trace_params[] = {
	{ "add", PARAM_STRINGS, offsetof(struct trace_args, add), false, 0,
	    PATTERNS_MAX },
	{ "remove", PARAM_STRINGS, offsetof(struct trace_args, remove), false,
	    0, PATTERNS_MAX },
	{ "addresses", PARAM_STRINGS, offsetof(struct trace_args, addresses),
	    false, 0, PATTERNS_MAX },
	{ "projectRoot", PARAM_STRING, offsetof(struct trace_args, root),
	    false, 0, PATH_MAX - 1 },
	{ "rawRegisters", PARAM_BOOL, offsetof(struct trace_args, raw), false,
	    0, 0 },
	{ "budget", PARAM_NUMBER, offsetof(struct trace_args, budget), false,
	    0, BUDGET_MOST },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

static struct json_object *
not_empty(struct json_object *list)
{
	return list == NULL || json_object_array_length(list) == 0 ? NULL :
	    list;
}

bool
trace_request_read(struct op *op, struct json_object *args, const char *what,
    struct trace_request *w)
{
	struct trace_args a = { .budget = -1 };
	char why[PARAMS_WHY];

	memset(w, 0, sizeof(*w));
	if (params_read(args, what, trace_params, &a, why) == -1) {
		trace_fail(op, "INVALID_ARGUMENT",
		    "correct the arguments and ask "
		    "again",
		    "%s", why);
		return false;
	}
	if (a.root != NULL && a.root[0] != '/') {
		trace_fail(op, "INVALID_ARGUMENT", "give an absolute path",
		    "projectRoot must be an absolute path, not \"%.200s\"",
		    a.root);
		return false;
	}
	w->add = not_empty(a.add);
	w->addresses = not_empty(a.addresses);
	w->remove = not_empty(a.remove);
	w->root = a.root;
	w->raw = a.raw;
	w->has_budget = a.budget >= 0;
	w->budget = a.budget > 0 ? (uint32_t)a.budget : 0;
	return true;
}

/* -- trace ---------------------------------------------------------------- */

static struct waiters	 tracing = TAILQ_HEAD_INITIALIZER(tracing);
static struct waiters	 listing = TAILQ_HEAD_INITIALIZER(listing);

static void
answer_state(struct op *op)
{
	struct text t = { .max = TEXT_MAX };

	text_puts(&t, "{");
	probing_state(&t);
	text_puts(&t, "}");
	trace_reply(op, &t);
}

static void
do_trace(struct op *op)
{
	const char *code;
	char why[PROBING_WHY];
	struct trace_request w;
	bool changes;

	if (!trace_request_read(op, op->args, "trace", &w))
		return;
	changes = w.add != NULL || w.addresses != NULL || w.remove != NULL ||
	    w.has_budget;
	if ((changes || w.root != NULL) && !op_may_change(op))
		return;
	/* also of what is over; and who may only look attaches to nothing */
	if (!changes && (!op->ask.rw || strcmp(session_state(), "ended") ==
	    0)) {
		answer_state(op);
		return;
	}
	if (!session_ready(op))
		return;
	if (w.root != NULL)
		session_set_root(w.root);
	if (session_root()[0] != '\0')
		w.root = session_root();
	if (trace_request_check(&w, &code, why) == -1) {
		trace_fail(op, code, "correct the pattern", "%s", why);
		return;
	}
	if (changes) {
		link_does(&op->ask, TRC_ACTION_TRACE);
		trace_request_apply(&w);
	}
	(void)waiter_add(&tracing, op);
	probing_kick();
}

static void
answer_trace(struct op *op)
{
	struct trace_request w;

	if (op->answered || !trace_request_read(op, op->args, "trace", &w))
		return;
	if ((w.add != NULL || w.addresses != NULL) && process_main() == NULL)
		session_refuse_ended(op);
	else if (trace_request_was_vain(&w))
		trace_fail(op, "NO_DEBUG_SYMBOLS", "build it with -g, or trace "
		    "with rawRegisters", "%s", NO_SYMBOLS_WORDS);
	else
		answer_state(op);
}

/* -- functions ------------------------------------------------------------ */

struct functions_args {
	const char	*pattern;
	int64_t		 limit, offset;
};

static const struct param functions_params[] = {
	{ "pattern", PARAM_STRING, offsetof(struct functions_args, pattern),
	    true, 0, PATTERN_MAX },
	{ "limit", PARAM_NUMBER, offsetof(struct functions_args, limit),
	    false, 1, PAGE_MOST },
	{ "offset", PARAM_NUMBER, offsetof(struct functions_args, offset),
	    false, 0, INT32_MAX },
	{ NULL, PARAM_BOOL, 0, false, 0, 0 }
};

struct listing {
	struct functions_args a;
	struct pattern	*pattern;
	struct text	 t;
	uint64_t	 total, shown;
};

static void
put_str(struct text *t, const char *name, const char *value)
{
	text_printf(t, "\"%s\":", name);
	json_quoted(t, value, strlen(value));
	text_puts(t, ",");
}

static const char *
why_not(const struct binary *b, const struct sym_func *f)
{
	uint32_t i = (uint32_t)(f - b->ix.funcs);

	if (f->addr == 0)
		return f->flags & SYM_INLINED ? "it is inlined into all its "
		    "callers" : "it has no code here";
	if (f->flags & SYM_COLD)
		return "it is the seldom used part of another function, and "
		       "is not called";
	if (b->fns != NULL && b->fns[i] != 0 &&
	    probing_why_not(b->fns[i] - 1) != NULL)
		return probing_why_not(b->fns[i] - 1);
	return NULL;
}

static void
put_function(struct text *t, const struct binary *b,
    const struct sym_func *f, uint64_t bias)
{
	const char *why = why_not(b, f);

	text_puts(t, "{");
	put_str(t, "function", symindex_str(&b->ix, f->name));
	put_str(t, "raw", symindex_str(&b->ix, f->raw));
	put_str(t, "file", symindex_str(&b->ix, f->file));
	text_printf(t, "\"line\":%u,\"address\":\"0x%llx\",\"size\":%llu,"
	    "\"binary\":", f->line, f->addr == 0 ? 0ULL :
	    (unsigned long long)(f->addr + bias), (unsigned long long)f->size);
	json_quoted(t, b->path, strlen(b->path));
	if ((f->flags & SYM_NO_DWARF) != 0)
		text_puts(t, ",\"debugInfo\":false");
	text_printf(t, ",\"traceable\":%s", why == NULL ? "true" : "false");
	if (why != NULL) {
		text_puts(t, ",\"reason\":");
		json_quoted(t, why, strlen(why));
	}
	text_puts(t, "}");
}

static void
list_binary(struct listing *l, const struct binary *b, uint64_t bias,
    bool code)
{
	const struct sym_func *f;
	uint32_t i;

	if (b->state != BINARY_READY || !plan_is_usual(b))
		return;
	for (i = 0; i < b->ix.header->nfuncs; i++) {
		f = &b->ix.funcs[i];
		if ((f->addr != 0) != code ||
		    !pattern_matches(l->pattern, symindex_str(&b->ix, f->name),
		    symindex_str(&b->ix, f->raw),
		    symindex_str(&b->ix, f->file)))
			continue;
		if (l->total++ < (uint64_t)l->a.offset ||
		    l->shown == (uint64_t)l->a.limit)
			continue;
		text_puts(&l->t, l->shown++ > 0 ? "," : "");
		put_function(&l->t, b, f, bias);
	}
}

/* Lists the functions that have code, or those that have none. */
static void
list_all(struct listing *l, bool code)
{
	const struct process *p = process_main();
	const struct binary *b;
	size_t i;

	if (p == NULL) {
		for (b = binary_next(NULL); b != NULL; b = binary_next(b))
			list_binary(l, b, 0, code);
		return;
	}
	for (i = 0; i < p->nmodules; i++)
		if (p->modules[i].binary->state == BINARY_READY)
			list_binary(l, p->modules[i].binary,
			    module_bias(&p->modules[i]), code);
}

static void
answer_functions(struct op *op)
{
	struct listing l = { .a = { .limit = PAGE },
		.t = { .max = TRC_ANSWER_MAX } };
	char why[PARAMS_WHY];

	if (op->answered || !op_params(op, functions_params, &l.a))
		return;
	l.pattern = pattern_new(l.a.pattern, session_root()[0] == '\0' ? NULL :
	    session_root(), why, sizeof(why));
	if (l.pattern == NULL) {
		trace_fail(op, "INVALID_PATTERN", "correct the pattern",
		    "Invalid trace pattern '%s': %s", l.a.pattern, why);
		return;
	}
	text_puts(&l.t, "{\"functions\":[");
	list_all(&l, true);
	list_all(&l, false);
	text_printf(&l.t, "],\"totalCount\":%llu,\"hasMore\":%s",
	    (unsigned long long)l.total, l.total > (uint64_t)l.a.offset +
	    l.shown ? "true" : "false");
	probing_debuginfo(&l.t);
	text_puts(&l.t, "}");
	pattern_free(l.pattern);
	trace_reply(op, &l.t);
}

/* Whether the program's files have been read; asks for it. */
static bool
is_readable(void)
{
	struct process *p = process_main();

	if (p == NULL || !p->arrived)
		return p == NULL;
	if (p->nmodules == 0) {
		process_look(p);
		p->stale = true;
	}
	return plan_read(p);
}

static void
do_functions(struct op *op)
{
	struct functions_args a = { .limit = PAGE };

	if (!op_params(op, functions_params, &a))
		return;
	if (process_main() == NULL && fn_count() == 0 &&
	    binary_next(NULL) == NULL && (!op_may_change(op) ||
	    !session_ready(op)))
		return;
	(void)waiter_add(&listing, op);
	probing_kick();
}

/* -- when it is so -------------------------------------------------------- */

void
session_settled(void)
{
	const struct process *p = process_main();
	struct waiter *w;

	session_tell();
	while (!link_is_full() && (w = TAILQ_FIRST(&listing)) != NULL &&
	    is_readable()) {
		answer_functions(w->op);
		waiter_drop(&listing, w);
	}
	/* before it has begun nothing is settled */
	if (!probing_settled() || (p != NULL && !p->arrived) || link_is_full())
		return;
	launch_settled();
	while (!link_is_full() && (w = TAILQ_FIRST(&tracing)) != NULL) {
		answer_trace(w->op);
		waiter_drop(&tracing, w);
	}
}

void
session_stopping(void)
{
	static const char words[] = "tracing has been stopped meanwhile";

	waiters_fail(&tracing, "SESSION_NOT_FOUND", NULL, words);
	waiters_fail(&listing, "SESSION_NOT_FOUND", NULL, words);
	queries_stopping();
}

const struct command trace_commands[] = {
	/* that nothing shall change may be asked by who may only look */
	{ "trace", true, TRC_ACTION_NONE, do_trace },
	{ "functions", true, TRC_ACTION_NONE, do_functions },
	{ NULL, false, TRC_ACTION_NONE, NULL }
};
