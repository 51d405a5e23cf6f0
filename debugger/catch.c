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
#include "copy.h"
#include "dialect.h"
#include "engine.h"
#include "exc.h"
#include "jget.h"
#include "jmake.h"
#include "profile.h"

#define CATCHERS	64

struct catcher {
	int64_t		 id;		/* 0 = free */
	bool		 panic;		/* else throw */
	bool		 going;
	char		*type;		/* or NULL = any */
	int64_t		 bp;		/* id of its breakpoint, or 0 */
	bool		 verified;
};
static struct catcher	catchers[CATCHERS];

const struct catch_kind catch_kinds[] = {
	{ "throw", "Exceptions that are thrown", true },
	{ "panic", "Panics, uncaught exceptions", false },
	{ .name = NULL }
};

struct sending {
	bpsend_fn	 fn;
	void		*arg;
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
	*c = (struct catcher) { .id = 0 };
}

static const char *
filter_of(const struct catcher *c)
{
	return c->panic ? dialect()->panic_filter : dialect()->throw_filter;
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

/* What is wanted, and what the adapter would do for anybody. */
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

static void
on_filters(struct op *op, const struct dap_answer *a, void *arg)
{
	struct sending *s = arg;
	size_t i;

	for (i = 0; a->ok && i < CATCHERS; i++)
		if (catchers[i].id != 0 && catchers[i].bp == 0)
			catchers[i].verified = true;
	s->fn(op, a->ok ? NULL : a->message, s->arg);
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
	*s = (struct sending) { .fn = fn, .arg = arg };
	args = jobject();
	jput(args, "filters", filters());
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

void
catch_configure(struct op *op, bpsend_fn fn, void *arg)
{
	size_t i;

	for (i = 0; i < CATCHERS; i++) {
		catchers[i].verified = false;
		if (catchers[i].id != 0)
			need_bp(&catchers[i]);
	}
	/* bpsend_dirty() of the caller sends the functions */
	send_filters(op, fn, arg);
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
wants(const struct catcher *c, const struct exc *e)
{
	return c->id != 0 && !c->panic &&
	    (c->type == NULL || exc_is(e, c->type));
}

bool
catch_wants(const struct exc *e)
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
is_hit(const struct catcher *c, const struct exc *e)
{
	struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);

	if (bp != NULL)
		return bp->hit;
	if (!e->known || strcmp(dbg.stop.reason, "exception") != 0)
		return false;
	return c->panic ? c->id != 0 && e->unhandled : wants(c, e);
}

void
catch_hits(const struct exc *e, struct json_object *ids)
{
	size_t i;

	for (i = 0; i < CATCHERS; i++) {
		if (is_hit(&catchers[i], e))
			jadd(ids, jint(catchers[i].id));
	}
}

/* -- commands ----------------------------------------------------------- */
static const char *
kind_name(const struct catcher *c)
{
	return c->panic ? "panic" : "throw";
}

static void
catcher_words(const struct catcher *c, char *out, size_t room)
{
	snprintf(out, room, "catchpoint %" PRId64 ": stops at every %s%s%s%s",
	    c->id, kind_name(c), c->type == NULL ? "" : " of ",
	    c->type == NULL ? "" : c->type,
	    c->verified ? "" : ", once the program is started");
}

static struct json_object *
catcher_json(const struct catcher *c)
{
	struct json_object *o = jobject();
	char words[512];

	jput_int(o, "id", c->id);
	jput_str(o, "kind", kind_name(c));
	jput_str(o, "type", c->type);
	jput_bool(o, "verified", c->verified);
	catcher_words(c, words, sizeof(words));
	jput_str(o, "words", words);
	return o;
}

/* Says why not; the catchpoint goes. */
static void
refuse(struct op *op, struct catcher *c, const char *why)
{
	struct bp *bp = c->bp == 0 ? NULL : bps_find(c->bp);

	if (why != NULL)
		op_fail(op, "refused", "the adapter refused that: %s", why);
	else
		op_fail(op, "not_verified", "this program has no function "
		    "%s, so it does not panic: `catch panic` is for Rust and "
		    "Go", bp == NULL ? "" : bp->function);
	drop(c);
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
	if (why != NULL || (bp != NULL && bp->sent && !bp->verified)) {
		refuse(op, c, why);
		return;
	}
	if (bp != NULL)
		c->verified = bp->verified;
	o = jobject();
	jput(o, "catchpoint", catcher_json(c));
	catcher_words(c, words, sizeof(words));
	jput_str(o, "words", words);
	op_reply(op, o);
}

static bool
can(bool panic)
{
	const char *filter = panic ? dialect()->panic_filter :
	    dialect()->throw_filter;

	return !bpsend_live() || (filter != NULL && is_announced(filter)) ||
	    (panic && filter == NULL && dialect()->panic_function != NULL);
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

bool
catch_there(int64_t id, bool *verified)
{
	const struct catcher *c = id == 0 ? NULL : find(id);

	if (c != NULL)
		*verified = c->verified;
	return c != NULL;
}

/* Can this adapter do it?  false: refused with words. */
static bool
possible(struct op *op, const struct catcher *c)
{
	if (can(c->panic))
		return true;
	op_fail(op, "unsupported", "the adapter %s cannot stop at a %s",
	    dbg.profile == NULL ? "" : dbg.profile->name, kind_name(c));
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
		refuse(op, c, "there are too many breakpoints");
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

static void
nothing(struct op *op, const char *why, void *arg)
{
	(void)op;
	(void)why;
	(void)arg;
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
