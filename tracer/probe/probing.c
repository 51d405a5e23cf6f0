/* SPDX-License-Identifier: ISC */
/* Probes go where the patterns want them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "plan.h"
#include "rows.h"
#include "tracer/binary/debuginfo_warnings.h"
#include "tracer/binary/fn.h"
#include "tracer/engine/clock.h"
#include "tracer/record/timeline.h"
#include "tracer/session/session.h"

#define HELD_MS		10000	/* then a program goes on as it is */

static const struct probing_observer *observer;
static struct loop_timer kick, patience;
static uint32_t		 usual_budget = TARGET_BUDGET;
static bool		 hold_main;
static uint64_t		 stop_ns;
static char		 warning[PROBING_WHY];

void
probing_budget(uint32_t n)
{
	usual_budget = n;
}

void
probing_warn(const char *words)
{
	(void)snprintf(warning, sizeof(warning), "%s", words);
}

/* -- out and in ----------------------------------------------------------- */

static void
say_why(struct hook *h, const char *why)
{
	free(h->why);
	h->why = strdup(why);
}

struct edit {
	struct process	*p;
	struct probe_spec *specs;	/* of those to be switched on */
	struct probe_result *results;
	uint32_t	*off;		/* functions to be switched off */
	bool		*wanted;	/* by function's number, those hooked */
	size_t		 nspecs, noff;
};

static bool
edit_begin(struct edit *e, struct process *p, const struct plan *pl)
{
	*e = (struct edit){ .p = p };
	e->specs = calloc(pl->n + 1, sizeof(*e->specs));
	e->results = calloc(pl->n + 1, sizeof(*e->results));
	e->off = calloc(p->nhooks + 1, sizeof(*e->off));
	e->wanted = calloc(p->nhooks + 1, sizeof(*e->wanted));
	return e->specs != NULL && e->results != NULL && e->off != NULL &&
	    e->wanted != NULL;
}

static void
edit_end(struct edit *e)
{
	free(e->specs);
	free(e->results);
	free(e->off);
	free(e->wanted);
}

/* Its probe is to go; what its budget has passed over is kept. */
static void
drop(struct edit *e, struct hook *h, uint32_t fn)
{
	if (h->state == HOOK_ON) {
		fn_get(fn)->skipped += target_skipped(e->p->target, fn);
		e->off[e->noff++] = fn;
	}
	hook_forget(e->p, h);
}

static void
want(struct edit *e, const struct choice *c)
{
	struct hook *h = process_hook(e->p, c->fn);
	const struct fn *f = fn_get(c->fn);
	char why[TARGET_WHY];

	if (h == NULL || f->state == FN_BARE || f->state == FN_ASKED)
		return;
	if (c->same != FN_NONE && h->state == HOOK_NONE &&
	    strcmp(fn_name(f), fn_name(fn_get(c->same))) != 0) {
		hook_set(e->p, h, HOOK_FAILED);
		(void)snprintf(why, sizeof(why), "its code is that of %.150s, "
		    "which is traced", fn_name(fn_get(c->same)));
		say_why(h, why);
	}
	if (c->same != FN_NONE || (h->state != HOOK_NONE &&
	    (h->state != HOOK_ON || h->budget == c->budget)))
		return;
	if (h->state == HOOK_ON)
		drop(e, h, c->fn);
	h->budget = c->budget;
	e->specs[e->nspecs++] = (struct probe_spec){.fn = c->fn,
	    .addr = c->addr,
	    .size = f->size,
	    .name = fn_symbol(f),
	    .flags = f->entry_only ? TARGET_ENTRY_ONLY : 0,
	    .enter = f->enter,
	    .leave = f->leave,
	    .budget = c->budget};
}

/* Hooks that no choice is left for, and why some could not be, are gone. */
static void
drop_others(struct edit *e, const struct plan *pl, uint32_t n)
{
	struct process *p = e->p;
	uint32_t fn;
	size_t i;

	for (i = 0; i < pl->n; i++)
		if (pl->v[i].fn < n)
			e->wanted[pl->v[i].fn] = true;
	for (fn = 0; fn < n; fn++) {
		if (p->hooks[fn].state == HOOK_NONE || e->wanted[fn])
			continue;
		drop(e, &p->hooks[fn], fn);
	}
}

static void
take_result(struct process *p, const struct probe_spec *s,
    const struct probe_result *r)
{
	struct hook *h = &p->hooks[s->fn];

	hook_set(p, h, r->ok ? HOOK_ON : HOOK_FAILED);
	h->entry_only = r->ok && r->entry_only;
	if (!r->ok || r->entry_only)
		say_why(h, r->why[0] != '\0' ? r->why :
		    "its returns cannot be followed");
	if (!r->ok)
		return;
	fn_store(timeline_store(), s->fn);
}

/*
 * Makes the engine report loaded libraries and threads that write output, even
 * without probes.
 */
static void
watch(struct process *p)
{
	struct probe_spec none;
	struct probe_result result;

	if (p->watched)
		return;
	p->watched = true;
	(void)target_probe(p->target, &none, 0, &result);
}

static void
apply(struct process *p, const struct plan *pl)
{
	uint32_t had = p->nhooks;
	struct edit e;
	size_t i;

	if (!edit_begin(&e, p, pl)) {
		edit_end(&e);
		log_warnx("no memory for probes");
		return;
	}
	drop_others(&e, pl, had);
	for (i = 0; i < pl->n; i++)
		want(&e, &pl->v[i]);
	stop_ns = 0;
	if (e.noff > 0) {
		(void)target_unprobe(p->target, e.off, e.noff);
		stop_ns += target_stop_ns(p->target);
	}
	watch(p);
	if (e.nspecs > 0) {
		(void)target_probe(p->target, e.specs, e.nspecs, e.results);
		stop_ns += target_stop_ns(p->target);
	}
	for (i = 0; i < e.nspecs; i++)
		take_result(p, &e.specs[i], &e.results[i]);
	edit_end(&e);
}

/* -- one process ---------------------------------------------------------- */

static bool
settle(struct process *p)
{
	struct plan pl = { .n = 0 };
	bool done;

	if (p->over || p->unwanted || !p->arrived || timeline_store() == NULL)
		return true;
	if (TAILQ_EMPTY(&rows) && p->nhooks == 0) {
		watch(p);
		return true;
	}
	if (p->stale)
		process_look(p);
	if (!plan_read(p))
		return false;
	plan_make(p, usual_budget, &pl);
	done = plan_typed(&pl);
	/* one that stands can be stopped often: what is known goes in */
	if (done || p->held)
		apply(p, &pl);
	if (done && pl.full)
		probing_warn("there are too many functions: not all of them "
		    "are traced");
	plan_free(&pl);
	return done;
}

static void
let_go(struct process *p)
{
	if (!p->held || (p->main && hold_main))
		return;
	p->held = false;
	target_go(p->target);
}

static void	step(void *);

/* Lets programs go on whose files take too long to read. */
static void
on_patience(void *arg)
{
	struct process *p;
	bool waits = false;

	(void)arg;
	TAILQ_FOREACH(p, &processes, entry) {
		if (!p->held || (p->main && hold_main))
			continue;
		if (loop_now_ms() - p->held_since < HELD_MS) {
			waits = true;
			continue;
		}
		probing_warn("the program goes on without all of its probes, "
		    "as its files take long to read");
		let_go(p);
		observer->let_go();
	}
	if (waits)
		loop_timer_set(&patience, HELD_MS / 10, on_patience, NULL);
}

static void
process_changed(struct process *p)
{
	bool user = p->main && hold_main;

	p->unsettled = true;
	/* a query must not find the timeline changed while it runs */
	if (!timeline_is_busy() && settle(p)) {
		p->unsettled = false;
		if (!user) {
			probing_kick();
			return;
		}
	}
	p->held = true;
	p->held_since = loop_now_ms();
	target_hold(p->target);
	/* those that are held already are not held longer for it */
	if (patience.slot == 0)
		loop_timer_set(&patience, HELD_MS / 10, on_patience, NULL);
	probing_kick();
}

/* -- all of them ---------------------------------------------------------- */

bool
probing_settled(void)
{
	const struct process *p;

	TAILQ_FOREACH(p, &processes, entry)
		if (p->unsettled)
			return false;
	return true;
}

static void
step(void *arg)
{
	struct process *p;

	(void)arg;
	if (timeline_is_busy())
		return;
	TAILQ_FOREACH(p, &processes, entry) {
		/* how often a pattern matches is counted by who is last */
		if (p->unsettled && settle(p))
			p->unsettled = false;
		if (!p->unsettled)
			let_go(p);
	}
	timeline_pace(true);
	observer->settled();
}

void
probing_kick(void)
{
	loop_timer_set(&kick, 0, step, NULL);
}

void
probing_init(const struct probing_observer *o)
{
	observer = o;
	binary_on_news(probing_kick);
	process_on_change(process_changed, probing_kick);
}

void
probing_hold(bool main_too)
{
	hold_main = main_too;
	if (!main_too)
		probing_kick();
}

/* -- what is so ----------------------------------------------------------- */

static const struct hook *
hook_in(const struct process *p, uint32_t fn, enum hook_state state)
{
	return fn < p->nhooks && p->hooks[fn].state == state ? &p->hooks[fn] :
	    NULL;
}

/* In any process. */
static const struct hook *
find_hook(uint32_t fn, enum hook_state state)
{
	const struct process *p;
	const struct hook *h;

	TAILQ_FOREACH(p, &processes, entry)
		if ((h = hook_in(p, fn, state)) != NULL)
			return h;
	return NULL;
}

uint32_t
probing_hooked(void)
{
	const struct process *p = TAILQ_FIRST(&processes);
	uint32_t fn, n = 0;

	if (p == NULL || TAILQ_NEXT(p, entry) == NULL)
		return p == NULL ? 0 : p->non;
	/* of several, each function once */
	for (fn = 0; fn < fn_count(); fn++)
		n += find_hook(fn, HOOK_ON) != NULL;
	return n;
}

/* Mostly there are none, and nobody has to be looked at. */
static bool
any_failed(void)
{
	const struct process *p;

	TAILQ_FOREACH(p, &processes, entry)
		if (p->nfailed > 0)
			return true;
	return false;
}

const char *
probing_why_not(uint32_t fn)
{
	const struct hook *h = find_hook(fn, HOOK_FAILED);

	return h == NULL || find_hook(fn, HOOK_ON) != NULL ? NULL : h->why;
}

static void
add_str(struct text *t, const char *s)
{
	json_quoted(t, s, strlen(s));
}

void
probing_patterns(struct text *t)
{
	const struct row *r;
	bool first = true;

	text_puts(t, "[");
	TAILQ_FOREACH(r, &rows, entry) {
		text_puts(t, first ? "" : ",");
		add_str(t, r->text);
		first = false;
	}
	text_puts(t, "]");
}

#define LIST_MOST	100	/* functions that are named in an answer */

static void
add_reason(struct text *t, uint32_t n, uint32_t fn, const struct hook *h)
{
	if (n >= LIST_MOST)
		return;
	text_puts(t, n > 0 ? ",{\"function\":" : "{\"function\":");
	add_str(t, fn_name(fn_get(fn)));
	text_puts(t, ",\"reason\":");
	add_str(t, h->why == NULL ? "there is no memory" : h->why);
	text_puts(t, "}");
}

static void
add_failed(struct text *t)
{
	const struct hook *h;
	uint32_t fn, n = 0;

	if (!any_failed())
		return;
	for (fn = 0; fn < fn_count(); fn++) {
		h = find_hook(fn, HOOK_FAILED);
		if (h == NULL || find_hook(fn, HOOK_ON) != NULL)
			continue;
		text_puts(t, n == 0 ? ",\"notTraceable\":[" : "");
		add_reason(t, n++, fn, h);
	}
	if (n > 0)
		text_printf(t, "],\"notTraceableCount\":%u", n);
}

static void
add_entry_only(struct text *t)
{
	const struct hook *h;
	uint32_t fn, n = 0;

	for (fn = 0; fn < fn_count(); fn++) {
		h = find_hook(fn, HOOK_ON);
		if (h == NULL || !h->entry_only)
			continue;
		text_puts(t, n == 0 ? ",\"entryOnly\":[" : "");
		add_reason(t, n++, fn, h);
	}
	text_puts(t, n > 0 ? "]" : "");
}

static void
add_pending(struct text *t)
{
	const struct row *r;
	bool any = false;

	TAILQ_FOREACH(r, &rows, entry) {
		if (r->most.matched > 0)
			continue;
		text_puts(t, any ? "," : ",\"pending\":[");
		add_str(t, r->text);
		any = true;
	}
	text_puts(t, any ? "]" : "");
}

static void
add_inlined(struct text *t)
{
	const struct row *r;
	uint32_t i, n = 0;

	TAILQ_FOREACH(r, &rows, entry)
		for (i = 0; i < r->most.inlined && i < ROW_NAMES &&
		    n < LIST_MOST; i++, n++) {
			text_puts(t, n == 0 ? ",\"inlined\":[" : ",");
			add_str(t, r->inlined[i]);
		}
	text_puts(t, n > 0 ? "]" : "");
}

static void
warn(struct text *t, uint32_t *n, const char *words)
{
	text_puts(t, (*n)++ == 0 ? ",\"warnings\":[" : ",");
	add_str(t, words);
}

static void
warn_failed(struct text *t, uint32_t *n)
{
	char words[160];
	uint32_t fn, failed = 0;

	if (!any_failed())
		return;
	for (fn = 0; fn < fn_count(); fn++)
		failed += probing_why_not(fn) != NULL;
	if (failed == 0)
		return;
	(void)snprintf(words, sizeof(words), "%u functions cannot be traced; "
	    "trace without add and remove tells which, and why", failed);
	warn(t, n, words);
}

static void
warn_walker(struct text *t, uint32_t *n)
{
	const struct process *p = process_main();
	const uint64_t at = p == NULL ? 0 : target_walker(p->target);
	char words[320];

	if (at == 0)
		return;
	(void)snprintf(words, sizeof(words), "the code at 0x%llx that walks "
	    "along frame pointers finds the tracer's addresses instead of its "
	    "callers', as it has no unwind table (compile it with "
	    "-fasynchronous-unwind-tables) or cannot be watched (do not trace "
	    "the functions that call it)", (unsigned long long)at);
	warn(t, n, words);
}

static void
warn_of(struct text *t, uint32_t *n, const struct binary *b)
{
	char words[DEBUGINFO_WARNING];
	size_t i;

	for (i = 0; debuginfo_warning(b, i, words); i++)
		warn(t, n, words);
}

static void
warn_binaries(struct text *t, uint32_t *n)
{
	const struct process *p = process_main();
	const struct binary *b;
	size_t i;

	if (p == NULL)
		for (b = binary_next(NULL); b != NULL; b = binary_next(b))
			warn_of(t, n, b);
	for (i = 0; p != NULL && i < p->nmodules; i++)
		warn_of(t, n, p->modules[i].binary);
}

void
probing_debuginfo(struct text *t)
{
	uint32_t n = 0;

	warn_binaries(t, &n);
	text_puts(t, n > 0 ? "]" : "");
}

void
probing_warnings(struct text *t, const char *first, bool all)
{
	char words[PROBING_WHY];
	const struct row *r;
	const char *root, *clock = clock_warning(NULL);
	uint32_t n = 0;

	if (first != NULL)
		warn(t, &n, first);
	if (all)
		warn_failed(t, &n);
	TAILQ_FOREACH(r, &rows, entry) {
		if (r->most.untyped == 0)
			continue;
		(void)snprintf(words, sizeof(words), "%.100s matches %u "
		    "functions of which there is no debug information; with "
		    "rawRegisters they are traced, too", r->text, r->most.untyped);
		warn(t, &n, words);
	}
	TAILQ_FOREACH(r, &rows, entry)
		if (r->most.matched == 0 && strcmp(r->text, "@usercode") == 0 &&
		    (root = observer->root_missing()) != NULL)
			warn(t, &n, root);
	warn_binaries(t, &n);
	warn_walker(t, &n);
	if (clock != NULL)
		warn(t, &n, clock);
	if (warning[0] != '\0')
		warn(t, &n, warning);
	text_puts(t, n > 0 ? "]" : "");
}

/*
 * The state of the program when it ended; the hooks that it is made from are
 * gone with the program.
 */
static struct text	 last = { .max = (size_t)1 << 20 };
static uint32_t		 last_hooked;

uint32_t
probing_shown(void)
{
	return process_main() == NULL && last.len > 0 ? last_hooked :
	    probing_hooked();
}

void
probing_remember(void)
{
	text_reset(&last, SIZE_MAX);
	last_hooked = probing_hooked();
	probing_state(&last);
	if (last.bad)
		text_reset(&last, SIZE_MAX);
}

void
probing_state(struct text *t)
{
	if (process_main() == NULL && last.len > 0) {
		text_put(t, last.p, last.len);
		return;
	}
	text_puts(t, "\"activePatterns\":");
	probing_patterns(t);
	text_printf(t, ",\"hookedFunctions\":%u", probing_hooked());
	add_pending(t);
	add_failed(t);
	add_inlined(t);
	add_entry_only(t);
	text_printf(t, ",\"stopNs\":%llu", (unsigned long long)stop_ns);
	probing_warnings(t, NULL, false);
}

static const char *
name_of(uint32_t fn)
{
	const char *name = fn_name(fn_get(fn));

	return name[0] != '\0' ? name : store_name(timeline_store(), fn);
}

void
probing_functions(struct text *t)
{
	uint32_t fn, n = 0;

	text_puts(t, "[");
	for (fn = 0; fn < fn_count() && n < LIST_MOST; fn++) {
		/* also those that were traced, now or by a predecessor */
		if (find_hook(fn, HOOK_ON) == NULL &&
		    store_calls(timeline_store(), fn) == 0)
			continue;
		text_puts(t, n++ > 0 ? ",{\"function\":" : "{\"function\":");
		add_str(t, name_of(fn));
		text_printf(t, ",\"calls\":%llu,\"skipped\":%llu}",
		    (unsigned long long)store_calls(timeline_store(), fn),
		    (unsigned long long)process_skipped(fn));
	}
	text_puts(t, "]");
}

void
probing_sampled(struct text *t)
{
	uint32_t fn, n = 0;
	uint64_t skipped;

	text_puts(t, "[");
	for (fn = 0; fn < fn_count() && n < LIST_MOST; fn++) {
		if ((skipped = process_skipped(fn)) == 0)
			continue;
		text_puts(t, n++ > 0 ? ",{\"function\":" : "{\"function\":");
		add_str(t, fn_name(fn_get(fn)));
		text_printf(t, ",\"skipped\":%llu}",
		    (unsigned long long)skipped);
	}
	text_puts(t, "]");
}
