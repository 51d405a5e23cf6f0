/* SPDX-License-Identifier: ISC */
/*
 * Catchpoints: stops at panics and at what is thrown.  Where the adapter has
 * a filter for it, that is used; a panic is else a breakpoint on the function
 * that every panic passes through.  Types are told apart by us.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "bps.h"
#include "bpsend.h"
#include "catch.h"
#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/profile.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/pairs.h"
#include "debugger/view/exception.h"

#define CATCHERS	64
#define TOO_MANY	"there are too many breakpoints"

struct catcher {
	int64_t		 id;		/* 0 = free */
	bool		 panic;		/* else throw */
	bool		 going;
	char		*type;		/* or NULL = any */
	int64_t		 bp;		/* id of its breakpoint, or 0 */
	bool		 told;		/* the adapter, of its filter */
	bool		 verified;
	char		*message;	/* why it never stops, or NULL */
};
static struct catcher	catchers[CATCHERS];
/* By their names, the ids that the adapter gave to filters; or NULL. */
static struct json_object *filter_ids;

const struct catch_kind catch_kinds[] = {
	{ "throw", "Exceptions that are thrown", true },
	{ "panic", "Panics, uncaught exceptions", false },
	{ .name = NULL }
};

struct sending {
	bpsend_fn	 fn;
	void		*arg;
	struct json_object *filters;	/* held: names */
};

static struct catcher *
find(int64_t id)
{
	size_t i;

	for (i = 0; i < CATCHERS; i++)
		if (catchers[i].id == id)
			return &catchers[i];
	return NULL;
}

static void
drop(struct catcher *c)
{
	struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);

	if (bp != NULL)
		bps_free(bp);
	free(c->type);
	free(c->message);
	*c = (struct catcher) { .id = 0 };
}

static const char *
filter_of(const struct catcher *c)
{
	return c->panic ? dialect()->panic_filter : dialect()->throw_filter;
}

static bool
is_of_filter(const struct catcher *c, const char *filter)
{
	const char *f = c->id == 0 || c->bp != 0 ? NULL : filter_of(c);

	return f != NULL && strcmp(f, filter) == 0;
}

static bool
is_verified(const struct catcher *c)
{
	const struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);

	return bp == NULL ? c->verified : bp->verified;
}

bool
catch_any(void)
{
	size_t i;

	for (i = 0; i < CATCHERS; i++)
		if (catchers[i].id != 0)
			return true;
	return false;
}

/* -- telling the adapter ------------------------------------------------ */
static struct json_object *
announced(void)
{
	return jget_arr(adapter_capabilities(), "exceptionBreakpointFilters");
}

static bool
is_announced(const char *filter)
{
	const char *name;
	size_t i;

	for (i = 0; i < jlen(announced()); i++) {
		name = jget_str(jat(announced(), i), "filter");
		if (name != NULL && strcmp(name, filter) == 0)
			return true;
	}
	return false;
}

static bool
is_wanted(const char *filter)
{
	const char *f;
	size_t i;

	for (i = 0; i < CATCHERS; i++) {
		if (catchers[i].id == 0 || catchers[i].going)
			continue;
		f = filter_of(&catchers[i]);
		if (f != NULL && strcmp(f, filter) == 0)
			return true;
	}
	return false;
}

/* Filters that are wanted, and those that the adapter has by default. */
static struct json_object *
filters(void)
{
	struct json_object *arr = jarray(), *f;
	const char *name;
	size_t i;

	for (i = 0; i < jlen(announced()); i++) {
		f = jat(announced(), i);
		name = jget_str(f, "filter");
		if (name != NULL &&
		    (jget_bool(f, "default") || is_wanted(name)))
			jadd(arr, jtext(name));
	}
	return arr;
}

/* Why it will never stop there; NULL = it does, or may later. */
static const char *
refusal(struct json_object *one)
{
	const char *words = jget_str(one, "message");
	const char *reason = jget_str(one, "reason");

	if (one == NULL)
		return "the adapter did not answer for it";
	if (jget_bool(one, "verified") ||
	    (reason != NULL && strcmp(reason, "pending") == 0))
		return NULL;
	return words == NULL && reason != NULL ?
	    "the adapter did not say why" : words;
}

static void
take_entry(const char *filter, struct json_object *one)
{
	int64_t id;
	size_t i;

	if (jget_int(one, "id", &id)) {
		if (filter_ids == NULL)
			filter_ids = jobject();
		jput_int(filter_ids, filter, id);
	}
	for (i = 0; i < CATCHERS; i++) {
		if (!is_of_filter(&catchers[i], filter))
			continue;
		catchers[i].told = true;
		catchers[i].verified = jget_bool(one, "verified");
		bps_set(&catchers[i].message, refusal(one));
	}
}

static void
take_reply(struct json_object *names, struct json_object *reply)
{
	struct json_object *good = jobject();
	struct pair pairs[PAIRS_MOST] = { { .line = 0 } };
	size_t i, n = jlen(names) < PAIRS_MOST ? jlen(names) : PAIRS_MOST;

	jput_bool(good, "verified", true);
	for (i = 0; i < n; i++)
		pairs[i].named = jget_int(filter_ids,
		    json_object_get_string(jat(names, i)), &pairs[i].id);
	pair_entries(pairs, n, reply);
	/* older adapters answer none: they have taken all */
	for (i = 0; i < n; i++)
		take_entry(json_object_get_string(jat(names, i)),
		    jlen(reply) == 0 ? good : pairs[i].entry);
	json_object_put(good);
}

static void
on_filters(struct op *op, const struct dap_answer *a, void *arg)
{
	struct sending *s = arg;

	if (a->ok)
		take_reply(s->filters, jget_arr(a->body, "breakpoints"));
	s->fn(op, a->ok ? NULL : a->message, s->arg);
	json_object_put(s->filters);
	free(s);
}

static void
send_filters(struct op *op, bpsend_fn fn, void *arg)
{
	struct sending *s;
	struct json_object *args;

	if (!bpsend_live() || jlen(announced()) == 0) {
		fn(op, NULL, arg);
		return;
	}
	if ((s = calloc(1, sizeof(*s))) == NULL) {
		fn(op, "out of memory", arg);
		return;
	}
	*s = (struct sending) { .fn = fn, .arg = arg, .filters = filters() };
	args = jobject();
	jput(args, "filters", json_object_get(s->filters));
	adapter_ask("setExceptionBreakpoints", args, op, on_filters, s);
}

/* The breakpoint that stands for a panic; false: too many of them. */
static bool
need_bp(struct catcher *c)
{
	struct bp *bp;

	if (!c->panic || filter_of(c) != NULL ||
	    dialect()->panic_function == NULL)
		return true;
	if (c->bp == 0) {
		if ((bp = bps_new(BP_FUNCTION)) == NULL)
			return false;
		bp->catcher = c->id;
		bp->may_pend = true;
		c->bp = bp->id;
	}
	bp = bps_find(c->bp);
	bps_set(&bp->function, dialect()->panic_function);
	bp->dirty = true;
	return true;
}

static bool
can(bool panic)
{
	const char *filter = panic ? dialect()->panic_filter :
	    dialect()->throw_filter;

	return !bpsend_live() || (filter != NULL && is_announced(filter)) ||
	    (panic && filter == NULL && dialect()->panic_function != NULL);
}

static const char *
catch_kind_name(const struct catcher *c)
{
	return c->panic ? "panic" : "throw";
}

static void
cannot_words(const struct catcher *c, char *out, size_t room)
{
	snprintf(out, room, "the adapter %s cannot stop at a %s",
	    dbg.profile == NULL ? "" : dbg.profile->name, catch_kind_name(c));
}

void
catch_configure(struct op *op, bpsend_fn fn, void *arg)
{
	struct catcher *c;
	char words[256];

	json_object_put(filter_ids);
	filter_ids = NULL;
	for (c = catchers; c < catchers + CATCHERS; c++) {
		if (c->id == 0)
			continue;
		c->told = c->verified = false;
		bps_set(&c->message, NULL);
		if (!can(c->panic)) {
			cannot_words(c, words, sizeof(words));
			bps_set(&c->message, words);
		} else if (!need_bp(c))
			bps_set(&c->message, TOO_MANY);
	}
	/* bpsend_dirty() of the caller sends the functions */
	send_filters(op, fn, arg);
}

void
catch_event(struct json_object *body)
{
	struct json_object *one = jget_obj(body, "breakpoint");
	struct json_object *gone;
	const char *reason = jget_str(body, "reason");
	int64_t id;

	if (!jget_int(one, "id", &id) || filter_ids == NULL)
		return;
	gone = jone_str("message", "the adapter has removed it");
	if (reason != NULL && strcmp(reason, "removed") == 0)
		one = gone;
	json_object_object_foreach(filter_ids, filter, of) {
		if (json_object_get_int64(of) != id)
			continue;
		take_entry(filter, one);
		break;
	}
	json_object_put(gone);
}

/* -- stops -------------------------------------------------------------- */
bool
catch_has_types(void)
{
	size_t i;

	for (i = 0; i < CATCHERS; i++)
		if (catchers[i].id != 0 && catchers[i].type != NULL)
			return true;
	return false;
}

static bool
wants(const struct catcher *c, const struct exception *e)
{
	return c->id != 0 && !c->panic &&
	    (c->type == NULL || exception_is(e, c->type));
}

bool
catch_wants(const struct exception *e)
{
	size_t i;

	/* what nobody catches, or nobody knows, is not ours to hide */
	if (e->unhandled || e->types[0][0] == '\0')
		return true;
	for (i = 0; i < CATCHERS; i++)
		if (wants(&catchers[i], e))
			return true;
	return false;
}

static bool
is_hit(const struct catcher *c, const struct exception *e)
{
	struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);

	if (bp != NULL)
		return bp->hit;
	if (!e->known || strcmp(dbg.stop.reason, "exception") != 0)
		return false;
	return c->panic ? c->id != 0 && e->unhandled : wants(c, e);
}

void
catch_hits(const struct exception *e, struct json_object *ids)
{
	size_t i;

	for (i = 0; i < CATCHERS; i++) {
		if (is_hit(&catchers[i], e))
			jadd(ids, jint(catchers[i].id));
	}
}

/* -- commands ----------------------------------------------------------- */
static const char *
message_of(const struct catcher *c)
{
	const struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);

	return bp == NULL ? c->message : bp->message;
}

static void
catcher_words(const struct catcher *c, char *out, size_t room)
{
	const struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);
	const char *of = c->type == NULL ? "" : " of ";
	const char *type = c->type == NULL ? "" : c->type;

	if (!is_verified(c) && message_of(c) != NULL)
		snprintf(out, room, "catchpoint %" PRId64 " at every %s%s%s is "
		    "NOT set: %s", c->id, catch_kind_name(c), of, type,
		    message_of(c));
	else
		snprintf(out, room, "catchpoint %" PRId64 ": stops at every "
		    "%s%s%s%s", c->id, catch_kind_name(c), of, type,
		    is_verified(c) ? "" : (bp == NULL ? c->told : bp->sent) ?
		    ", once its code is loaded" :
		    ", once the program is started");
}

static struct json_object *
catcher_json(const struct catcher *c)
{
	struct json_object *o = jobject();
	char words[512];

	jput_int(o, "id", c->id);
	jput_str(o, "kind", catch_kind_name(c));
	jput_str(o, "type", c->type);
	jput_bool(o, "verified", is_verified(c));
	if (!is_verified(c))
		jput_str(o, "message", message_of(c));
	catcher_words(c, words, sizeof(words));
	jput_str(o, "words", words);
	return o;
}

static void
nothing(struct op *op, const char *why, void *arg)
{
	(void)op;
	(void)why;
	(void)arg;
}

/* Says why not; the catchpoint goes. */
static void
refuse(struct op *op, struct catcher *c, const char *why)
{
	struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);
	bool told = c->told;
	bool sent = bp != NULL && bp->sent;

	if (why != NULL)
		op_fail(op, "refused", "the adapter refused that: %s", why);
	else if (bp == NULL)
		op_fail(op, "not_verified", "the program would not stop at a "
		    "%s: %s", catch_kind_name(c), c->message);
	else
		op_fail(op, "not_verified", "this program has no function "
		    "%s, so it does not panic: `catch panic` is for Rust and "
		    "Go", bp->function);
	if (sent) {
		/* code that comes later must not stop for it */
		bp->going = bp->dirty = true;
		bpsend_dirty(NULL, nothing, NULL);
	}
	drop(c);
	if (told)
		send_filters(NULL, nothing, NULL);
}

static void
added(struct op *op, const char *why, void *arg)
{
	struct catcher *c = find((int64_t)op->word);
	struct json_object *o;
	struct bp *bp;
	char words[512];

	(void)arg;
	if (c == NULL) {
		op_fail(op, "no_such", "it was removed meanwhile");
		return;
	}
	bp = c->bp == 0 ? NULL : bps_find(c->bp);
	if (why != NULL || (bp == NULL ? c->message != NULL :
					 bp->sent && !bp->verified)) {
		refuse(op, c, why);
		return;
	}
	o = jobject();
	jput(o, "catchpoint", catcher_json(c));
	catcher_words(c, words, sizeof(words));
	jput_str(o, "words", words);
	op_reply(op, o);
}

bool
catch_possible(const char *kind)
{
	return can(strcmp(kind, "panic") == 0);
}

const char *
catch_kind_of(const char *filter)
{
	const struct dialect *d = dialect();

	if (d->throw_filter != NULL && strcmp(filter, d->throw_filter) == 0)
		return "throw";
	if (d->panic_filter != NULL && strcmp(filter, d->panic_filter) == 0)
		return "panic";
	return filter;
}

const char *
catch_message(int64_t id)
{
	const struct catcher *c = id == 0 ? NULL : find(id);

	return c == NULL || is_verified(c) ? NULL : message_of(c);
}

bool
catch_there(int64_t id, bool *verified)
{
	const struct catcher *c = id == 0 ? NULL : find(id);

	if (c != NULL)
		*verified = is_verified(c);
	return c != NULL;
}

/* Can this adapter do it?  false: refused with words. */
static bool
possible(struct op *op, const struct catcher *c)
{
	char words[256];

	if (can(c->panic))
		return true;
	cannot_words(c, words, sizeof(words));
	op_fail(op, "unsupported", "%s", words);
	return false;
}

static struct catcher *
new_catcher(struct op *op)
{
	const char *kind = NULL, *type = NULL;
	struct catcher *c = find(0);

	if (!op_string(op, "kind", true, &kind) ||
	    !op_string(op, "type", false, &type))
		return NULL;
	if (strcmp(kind, "panic") != 0 && strcmp(kind, "throw") != 0) {
		op_fail(op, "invalid_argument", "%s is no kind of "
		    "catchpoint; there are panic and throw", kind);
		return NULL;
	}
	if (c == NULL) {
		op_fail(op, "too_many", "there are %d catchpoints already",
		    CATCHERS);
		return NULL;
	}
	*c = (struct catcher) { .id = bps_new_id(),
		.panic = strcmp(kind, "panic") == 0,
		.type = copy_text(type) };
	return c;
}

static void
catch_add(struct op *op)
{
	struct catcher *c = new_catcher(op);

	if (c == NULL)
		return;
	if (!possible(op, c)) {
		drop(c);
		return;
	}
	op->word = (uint64_t)c->id;
	if (!bpsend_live())
		added(op, NULL, NULL);
	else if (filter_of(c) != NULL)
		send_filters(op, added, NULL);
	else if (need_bp(c))
		bpsend_dirty(op, added, NULL);
	else
		refuse(op, c, TOO_MANY);
}

static void
catch_list(struct op *op)
{
	struct json_object *o = jobject();
	struct json_object *arr = jarray();
	size_t i;

	for (i = 0; i < CATCHERS; i++)
		if (catchers[i].id != 0)
			jadd(arr, catcher_json(&catchers[i]));
	jput(o, "catchpoints", arr);
	op_reply(op, o);
}

/* Its breakpoint stays as well, also where the adapter has let that go. */
static void
keep(struct catcher *c)
{
	struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);

	c->going = false;
	if (bp == NULL)
		return;
	bp->going = false;
	bp->dirty = true;
}

static void
removed(struct op *op, const char *why, void *arg)
{
	struct json_object *arr = jarray();
	size_t i;

	(void)arg;
	for (i = 0; i < CATCHERS; i++) {
		if (!catchers[i].going)
			continue;
		if (why != NULL) {
			keep(&catchers[i]);
			continue;
		}
		jadd(arr, jint(catchers[i].id));
		drop(&catchers[i]);
	}
	if (why != NULL)
		bpsend_dirty(NULL, nothing, NULL);
	bpsend_answer(op, why, "removed", arr);
}

/* Its breakpoint, too: both lists are told, the filters' answer is ours. */
static void
functions_told(struct op *op, const char *why, void *arg)
{
	(void)arg;
	if (why != NULL)
		removed(op, why, NULL);
	else
		send_filters(op, removed, NULL);
}

static void
catch_remove(struct op *op)
{
	bool every = false, some = false;
	int64_t id = -1;
	struct bp *bp;
	size_t i;

	if (!op_bool(op, "all", &every) || !op_int(op, "id", !every, &id))
		return;
	for (i = 0; i < CATCHERS; i++) {
		if (catchers[i].id == 0 || (!every && catchers[i].id != id))
			continue;
		some = catchers[i].going = true;
		bp = catchers[i].bp == 0 ? NULL : bps_find(catchers[i].bp);
		if (bp != NULL)
			bp->going = bp->dirty = true;
	}
	if (some || every)
		bpsend_dirty(op, functions_told, NULL);
	else
		op_fail(op, "no_such", "there is no catchpoint %" PRId64
		    "; `debugger catch list` shows them", id);
}

const struct command catch_commands[] = {
	{ "catch_add", false, ON_ANY, catch_add },
	{ "catch_list", true, ON_ANY, catch_list },
	{ "catch_remove", false, ON_ANY, catch_remove },
	{ NULL, false, 0, NULL }
};
