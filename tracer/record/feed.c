/* SPDX-License-Identifier: ISC */
/* Feeds the timeline with what the engine reports. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "feed.h"
#include "timeline/query/query_int.h"

#define BUCKETS		1024
#define THREADS_MAX	65536		/* a program may make threads for ever */
#define DEPTH_MAX	4096		/* parents of deeper calls are not known */
#define LAST		16		/* events that a crash tells of */
#define CALLS_TOLD	64U		/* open calls, likewise */

struct open_call {
	uint64_t engine, store;		/* the ids that it has */
	uint32_t fn;
};

struct last_event {
	uint64_t id, ts;
	uint32_t fn;
	uint8_t	 kind;
};

struct feed_thread {
	struct feed_thread *next;
	struct open_call *calls;	/* the innermost last; owned */
	uint32_t n, cap;
	uint32_t tid;
	uint32_t nlast;			/* that there have been */
	struct last_event last[LAST];	/* the latest, in a circle */
};

struct feed {
	struct store *st;
	feed_place_fn place;
	void	*place_arg;
	struct feed_thread *buckets[BUCKETS], *latest;
	uint32_t nthreads;
	struct event ev;		/* of the latest record */
};

struct feed *
feed_new(struct store *st)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (f != NULL)
		f->st = st;
	return f;
}

void
feed_set_place(struct feed *f, feed_place_fn fn, void *arg)
{
	f->place = fn;
	f->place_arg = arg;
}

static struct feed_thread **
find(struct feed *f, uint32_t tid)
{
	struct feed_thread **p = &f->buckets[tid % BUCKETS];

	while (*p != NULL && (*p)->tid != tid)
		p = &(*p)->next;
	return p;
}

static void
forget(struct feed *f, uint32_t tid)
{
	struct feed_thread **p = find(f, tid), *t = *p;

	if (t == NULL)
		return;
	*p = t->next;
	free(t->calls);
	free(t);
	f->nthreads--;
	f->latest = NULL;
}

void
feed_free(struct feed *f)
{
	uint32_t i;

	if (f == NULL)
		return;
	for (i = 0; i < BUCKETS; i++)
		while (f->buckets[i] != NULL)
			forget(f, f->buckets[i]->tid);
	free(f);
}

/* NULL: there are too many; their calls have no parents. */
static struct feed_thread *
thread(struct feed *f, uint32_t tid)
{
	struct feed_thread **p, *t;

	if (f->latest != NULL && f->latest->tid == tid)
		return f->latest;
	p = find(f, tid);
	if (*p == NULL && f->nthreads < THREADS_MAX &&
	    (t = calloc(1, sizeof(*t))) != NULL) {
		t->tid = tid;
		*p = t;
		f->nthreads++;
	}
	return f->latest = *p;
}

/* -- records ------------------------------------------------------------ */
/*
 * Counts the open calls up to the one that the engine calls id.  Calls above
 * it have ended, whether that was told or not.
 */
static uint32_t
keep(const struct feed_thread *t, uint64_t id)
{
	uint32_t n = t->n;

	while (n > 0 && t->calls[n - 1].engine != id)
		n--;
	return n;
}

static void
push(struct feed_thread *t, uint64_t engine, uint64_t store, uint32_t fn)
{
	uint32_t cap = t->cap == 0 ? 16 : 2 * t->cap;
	struct open_call *calls;

	if (t->n == DEPTH_MAX)
		return;
	if (t->n == t->cap) {
		calls = reallocarray(t->calls, cap, sizeof(*calls));
		if (calls == NULL)
			return;
		t->calls = calls;
		t->cap = cap;
	}
	t->calls[t->n++] = (struct open_call){ engine, store, fn };
}

/* The timeline's id of the call that a record is in, or ends; 0 = unknown. */
static uint64_t
parent_of(struct feed_thread *t, const struct trace_record *r)
{
	uint32_t n;

	if (r->kind != TRACE_EXIT) {
		n = keep(t, r->parent);
		/* of a full stack the missing ones are on top */
		if (n > 0 || t->n < DEPTH_MAX)
			t->n = n;
		return n > 0 ? t->calls[n - 1].store : 0;
	}
	/* an end whose beginning is unknown says nothing of the others */
	if ((n = keep(t, r->id)) == 0)
		return 0;
	t->n = n - 1;
	return t->calls[n - 1].store;
}

static uint16_t
short_len(uint32_t len)
{
	return (uint16_t)(len < UINT16_MAX ? len : UINT16_MAX);
}

static void
remember(struct feed_thread *t, uint64_t id, uint64_t ts, uint32_t fn,
    uint8_t kind)
{
	t->last[t->nlast++ % LAST] = (struct last_event){ id, ts, fn, kind };
}

bool
feed_record(struct feed *f, const struct trace_record *r, uint64_t now_ns)
{
	struct feed_thread *t = thread(f, (uint32_t)r->tid);
	struct event *ev = &f->ev;
	bool is_call = r->kind == TRACE_CALL;

	ev->ts_ns = r->ts;
	ev->parent = t != NULL ? parent_of(t, r) : 0;
	ev->duration = r->duration;
	ev->fn = r->fn;
	ev->tid = (uint32_t)r->tid;
	ev->kind = is_call ? EVENT_CALL : r->kind == TRACE_ENTER ?
	    EVENT_ENTER : EVENT_EXIT;
	ev->flags = r->flags;
	ev->len = short_len(r->captures_len);
	ev->captures = r->captures;
	if (is_call) {
		ev->exit_len = short_len(r->exit_captures_len);
		ev->exit_captures = r->exit_captures;
	}
	if (store_append(f->st, ev, 1, now_ns) == 0)
		return false;
	if (t == NULL)
		return true;
	if (r->kind == TRACE_ENTER && (r->flags & TRACE_OPEN) == 0)
		push(t, r->id, ev->id, r->fn);
	remember(t, ev->id, r->ts, r->fn, r->kind == TRACE_EXIT ? EVENT_EXIT :
	    EVENT_ENTER);
	if (is_call)
		remember(t, ev->id + 1, r->ts + r->duration, r->fn,
		    EVENT_EXIT);
	return true;
}

uint64_t
feed_call(struct feed *f, uint32_t tid, uint64_t engine)
{
	const struct feed_thread *t = *find(f, tid);
	uint32_t n = t == NULL || engine == 0 ? 0 : keep(t, engine);

	return n > 0 ? t->calls[n - 1].store : 0;
}

/* -- events ------------------------------------------------------------- */
static void
hex(struct text *t, uint64_t v)
{
	text_printf(t, "\"0x%llx\"", (unsigned long long)v);
}

static void
name(const struct feed *f, struct text *t, uint32_t fn)
{
	const struct function *known = function_of(f->st, fn);

	json_quoted(t, known == NULL ? "" : known->name, known == NULL ? 0 :
	    strlen(known->name));
}

/* The thread's last events, and the calls that it is in, innermost first. */
static void
history(struct feed *f, struct feed_thread *ft, struct text *t)
{
	const struct last_event *l;
	uint32_t i;
	char id[24];

	text_puts(t, ",\"lastEvents\":[");
	for (i = ft->nlast > LAST ? ft->nlast - LAST : 0; i < ft->nlast; i++) {
		l = &ft->last[i % LAST];
		event_id_text(l->id, id);
		text_printf(t, "%s{\"eventId\":\"%s\",\"timestamp_ns\":%llu,"
		    "\"eventType\":\"%s\",\"function\":",
		    t->p[t->len - 1] == '[' ? "" : ",", id,
		    (unsigned long long)shown_ns(f->st, l->ts),
		    kind_name(l->kind));
		name(f, t, l->fn);
		text_puts(t, "}");
	}
	text_puts(t, "],\"openCalls\":[");
	for (i = 0; i < ft->n && i < CALLS_TOLD; i++) {
		text_puts(t, i > 0 ? "," : "");
		name(f, t, ft->calls[ft->n - 1 - i].fn);
	}
	text_puts(t, "]");
}

static void
crash(struct feed *f, const struct target_event *e)
{
	const char *signame = sigabbrev_np(e->signo);
	struct feed_thread *ft = *find(f, (uint32_t)e->tid);
	struct text t = { .max = STORE_TEXT_MAX };
	uint32_t i;

	text_printf(&t, "{\"signal\":%d,\"signalName\":\"%s%s\",\"code\":%d,"
	    "\"handled\":%s,\"address\":", e->signo,
	    signame == NULL ? "" : "SIG", signame == NULL ? "unknown" :
	    signame, e->code,
	    e->caught ? "true" : "false");
	hex(&t, e->addr);
	text_puts(&t, ",\"threadName\":");
	json_quoted(&t, e->name, strnlen(e->name, sizeof(e->name)));
	text_puts(&t, ",\"registers\":{");
	for (i = 0; i < e->nregs && i < TARGET_REGS; i++) {
		text_printf(&t, "%s\"%s\":", i > 0 ? "," : "", e->regs[i].name);
		hex(&t, e->regs[i].value);
	}
	text_puts(&t, "},\"stackPointer\":");
	hex(&t, e->sp);
	text_puts(&t, ",\"stack\":[");
	for (i = 0; i < e->nstack && i < TARGET_STACK; i++) {
		text_puts(&t, i > 0 ? "," : "");
		hex(&t, e->stack[i]);
	}
	text_puts(&t, "]");
	if (f->place != NULL)
		f->place(e, &t, f->place_arg);
	if (ft != NULL)
		history(f, ft, &t);
	text_puts(&t, "}");
	store_crash(f->st, e->ts, (uint32_t)e->tid, t.p, t.len);
	text_free(&t);
}

void
feed_event(struct feed *f, const struct target_event *e)
{
	char name[TARGET_NAME + 1] = "";

	switch (e->kind) {
	case TARGET_THREAD_NEW:
	case TARGET_NAMED:
		memcpy(name, e->name, sizeof(e->name));
		store_thread(f->st, (uint32_t)e->tid, name);
		break;
	case TARGET_THREAD_GONE:
		forget(f, (uint32_t)e->tid);
		store_thread_gone(f->st, (uint32_t)e->tid);
		break;
	case TARGET_EXEC:
		/* nothing of what was open is there any more */
		forget(f, (uint32_t)e->tid);
		break;
	case TARGET_CRASH:
		crash(f, e);
		break;
	case TARGET_LOST:
		store_lost(f->st, (uint32_t)e->tid,
		    e->calls + e->exits + e->deep + e->torn);
		break;
	default:
		break;
	}
}
