/* SPDX-License-Identifier: ISC */
/*
 * Watchpoints: stops when memory is written or read.  Always by address: the
 * bare name of a variable makes some adapters take its value for one.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "bps.h"
#include "bpsend.h"
#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/format.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/dap/profile.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/memtext.h"
#include "debugger/text/pairs.h"
#include "debugger/view/view.h"
#include "watch.h"

#define WATCHES		16	/* the hardware has fewer */
#define NUMBER_MOST	INT32_MAX	/* no adapter has made so many */

struct watch {
	int64_t		 id;		/* 0 = free */
	char		*expression;
	char		*condition;	/* or NULL */
	char		*data_id;	/* the adapter's */
	char		 access[16];	/* ours: write, read, access */
	char		 type[128];	/* of what is there, or "" */
	uint64_t	 address;	/* or 0 */
	int64_t		 size;		/* bytes, or 0 */
	char		*value;		/* when it was seen last */
	char		*was;		/* before the present stop */
	bool		 verified;
	bool		 going;
	bool		 hit;
	char		*message;	/* why it is not verified, or NULL */
	int64_t		 adapter_id;	/* as its stops name it */
	bool		 named;		/* ... by an answer; else we count */
	int64_t		 hits;
};
static struct watch	watches[WATCHES];
/* Watchpoints that the adapter has ever made: it numbers them so. */
static int64_t		made;
/* A watchpoint was refused: adapters differ in whether it had a number. */
static bool		lost_count;

/* Results so far of adding a watchpoint. */
struct adding {
	struct watch	*w;
	int64_t		 frame;
	unsigned int	 pending;
	uint64_t	 address;	/* of what was refused; or 0 */
	char		*why;
};

struct sent {
	bpsend_fn	 fn;
	size_t		 n;
	int64_t		 ids[WATCHES];
	char		 why[512];
};

static struct watch *
find(int64_t id)
{
	size_t i;

	for (i = 0; i < WATCHES; i++)
		if (watches[i].id == id)
			return &watches[i];
	return NULL;
}

static void
drop(struct watch *w)
{
	free(w->expression);
	free(w->condition);
	free(w->data_id);
	free(w->value);
	free(w->was);
	free(w->message);
	*w = (struct watch) { .id = 0 };
}

void
watch_forget(void)
{
	size_t i;

	for (i = 0; i < WATCHES; i++) {
		watches[i].verified = watches[i].hit = false;
		watches[i].named = false;
		bps_set(&watches[i].data_id, NULL);
		bps_set(&watches[i].message, NULL);
	}
	made = 0;
	lost_count = false;
}

/* -- how it is shown ---------------------------------------------------- */
static void
watch_words(const struct watch *w, char *out, size_t room)
{
	if (w->data_id == NULL)
		snprintf(out, room, "watchpoint %" PRId64 " on %s belongs to "
		    "an earlier run: remove it and add it again", w->id,
		    w->expression);
	else if (w->message != NULL)
		snprintf(out, room, "watchpoint %" PRId64 " on %s (%s) is NOT "
		    "set: %s", w->id, w->expression, w->access, w->message);
	else if (w->address == 0)
		snprintf(out, room, "watchpoint %" PRId64 " on %s (%s)",
		    w->id, w->expression, w->access);
	else
		snprintf(out, room, "watchpoint %" PRId64 " on %s (%s): %"
		    PRId64 " bytes at 0x%" PRIx64 ", also after the variable "
		    "is gone", w->id, w->expression, w->access, w->size,
		    w->address);
}

static struct json_object *
watch_json(const struct watch *w)
{
	struct json_object *o = jobject();
	char words[512];

	jput_int(o, "id", w->id);
	jput_str(o, "expression", w->expression);
	jput_str(o, "access", w->access);
	if (w->address != 0)
		jput_fmt(o, "address", "0x%" PRIx64, w->address);
	if (w->size != 0)
		jput_int(o, "size", w->size);
	if (w->type[0] != '\0')
		jput_str(o, "type", w->type);
	jput_str(o, "value", w->value);
	jput_str(o, "condition", w->condition);
	jput_bool(o, "enabled", true);
	jput_bool(o, "verified", w->verified);
	jput_int(o, "hits", w->hits);
	jput_str(o, "message", w->message);
	watch_words(w, words, sizeof(words));
	jput_str(o, "words", words);
	return o;
}

/* -- telling the adapter ------------------------------------------------ */
static bool
is_number(int64_t n)
{
	return n >= 0 && n <= NUMBER_MOST;
}

/* Keeps what an entry says of its watchpoint; at is its place from the end. */
static void
take_entry(struct watch *w, struct json_object *one, size_t at)
{
	const char *words = jget_str(one, "message");
	int64_t id;

	w->verified = jget_bool(one, "verified");
	if (one == NULL)
		words = "the adapter did not answer for it";
	else if (words == NULL)
		words = "the adapter did not say why";
	bps_set(&w->message, w->verified ? NULL : words);
	if (jget_int(one, "id", &id) && is_number(id)) {
		w->named = true;
		w->adapter_id = id;
	} else if (!w->named) {
		/* lldb makes them from the last to the first */
		w->adapter_id = made + (int64_t)at;
		lost_count = lost_count || !w->verified;
	}
}

/* Words of the first that is lost by this request, or NULL. */
static const char *
take_reply(struct sent *s, struct json_object *reply)
{
	struct pair pairs[WATCHES];
	const char *why = NULL;
	struct watch *w;
	bool old;
	size_t i;

	for (i = 0; i < s->n; i++) {
		w = find(s->ids[i]);
		pairs[i] = (struct pair) { .named = w != NULL && w->named,
			.id = w == NULL ? 0 : w->adapter_id };
	}
	pair_entries(pairs, s->n, reply);
	for (i = 0; i < s->n; i++) {
		if ((w = find(s->ids[i])) == NULL)
			continue;
		/* a refusal that was told before is no news */
		old = w->message != NULL;
		take_entry(w, pairs[i].entry, s->n - i);
		if (w->verified || old || why != NULL)
			continue;
		snprintf(s->why, sizeof(s->why), "watchpoint %" PRId64
		    " on %s: %s", w->id, w->expression, w->message);
		why = s->why;
	}
	made += (int64_t)s->n;
	return why;
}

/* To fn, arg is NULL if the adapter has not taken the list. */
static void
on_set(struct op *op, const struct dap_answer *a, void *arg)
{
	struct sent *s = arg;
	const char *why = a->message;

	if (a->ok)
		why = take_reply(s, jget_arr(a->body, "breakpoints"));
	s->fn(op, why, a->ok ? s : NULL);
	free(s);
}

static void
send_all(struct op *op, bpsend_fn fn)
{
	static const char *const theirs[][2] = { { "write", "write" },
		{ "read", "read" }, { "access", "readWrite" } };
	struct json_object *args, *arr, *one;
	struct sent *s = calloc(1, sizeof(*s));
	size_t i, k;

	if (s == NULL) {
		fn(op, "out of memory", NULL);
		return;
	}
	s->fn = fn;
	arr = jarray();
	for (i = 0; i < WATCHES; i++) {
		if (watches[i].id == 0 || watches[i].going ||
		    watches[i].data_id == NULL)
			continue;
		one = jone_str("dataId", watches[i].data_id);
		for (k = 0; k < 3; k++)
			if (strcmp(theirs[k][0], watches[i].access) == 0)
				jput_str(one, "accessType", theirs[k][1]);
		jput_str(one, "condition", watches[i].condition);
		jadd(arr, one);
		s->ids[s->n++] = watches[i].id;
	}
	args = jobject();
	jput(args, "breakpoints", arr);
	adapter_ask("setDataBreakpoints", args, op, on_set, s);
}

/* -- watch_add ---------------------------------------------------------- */
/* Somebody may remove it while it is still being added. */
static bool
is_there(struct op *op)
{
	const struct adding *ad = op->data;

	return find((int64_t)op->word) == ad->w;
}

static void
gone(struct op *op)
{
	op_fail(op, "no_such", "it was removed meanwhile");
}

/* Another one of the same place: some adapters take one for each alone. */
static const struct watch *
beside(const struct adding *ad)
{
	size_t i;

	for (i = 0; i < WATCHES; i++)
		if (watches[i].id != 0 && watches[i].address != 0 &&
		    watches[i].address == ad->address)
			return &watches[i];
	return NULL;
}

/* The others have their places back. */
static void
refused(struct op *op, const char *why, void *arg)
{
	const struct adding *ad = op->data;
	const struct watch *w = beside(ad);

	(void)why;
	(void)arg;
	if (w != NULL)
		op_fail(op, "refused", "it cannot be watched: %s; watchpoint %"
		    PRId64 " is at the same place, remove that first", ad->why,
		    w->id);
	else
		op_fail(op, "refused", "it cannot be watched: %s; a processor "
		    "watches 4 places at most, `debugger watch list` shows "
		    "what is taken", ad->why);
}

static void
added(struct op *op, const char *why, void *arg)
{
	struct watch *w = find((int64_t)op->word);
	struct adding *ad = op->data;
	struct json_object *o;
	char words[512];

	(void)arg;
	if (w == NULL) {
		gone(op);
		return;
	}
	if (why != NULL) {
		ad->why = copy_text(why);
		ad->address = w->address;
		drop(w);
		/* the others may have lost their place to it */
		send_all(op, refused);
		return;
	}
	o = jobject();
	jput(o, "watchpoint", watch_json(w));
	watch_words(w, words, sizeof(words));
	jput_str(o, "words", words);
	op_reply(op, o);
}

static void
on_data_info(struct op *op, const struct dap_answer *a, void *arg)
{
	struct adding *ad = op->data;
	const char *id = jget_str(a->body, "dataId");
	const char *why;

	(void)arg;
	if (!is_there(op)) {
		gone(op);
		return;
	}
	if (!a->ok || id == NULL) {
		why = a->ok ? jget_str(a->body, "description") : a->message;
		op_fail(op, "refused", "%s cannot be watched: %s",
		    ad->w->expression, why == NULL ? "no reason given" : why);
		drop(ad->w);
		return;
	}
	bps_set(&ad->w->data_id, id);
	send_all(op, added);
}

static bool
size_good(struct op *op, const struct watch *w)
{
	if (w->size == 1 || w->size == 2 || w->size == 4 || w->size == 8)
		return true;
	op_fail(op, "refused", "%s has %" PRId64 " bytes; a processor watches "
	    "1, 2, 4 or 8: watch a member of it", w->expression, w->size);
	return false;
}

/* All that was asked about the expression is answered. */
static void
measured(struct op *op)
{
	struct adding *ad = op->data;
	struct json_object *args;

	if (!is_there(op)) {
		gone(op);
		return;
	}
	if (ad->why != NULL) {
		op_fail(op, "evaluate_failed", "%s has no address: %s",
		    ad->w->expression, ad->why);
		drop(ad->w);
		return;
	}
	if (!size_good(op, ad->w)) {
		drop(ad->w);
		return;
	}
	args = jone_int("frameId", ad->frame);
	jput_fmt(args, "name", "&(%s)", ad->w->expression);
	jput_bool(args, "asAddress", true);
	jput_int(args, "bytes", ad->w->size);
	adapter_ask("dataBreakpointInfo", args, op, on_data_info, NULL);
}

static void
measured_less(struct op *op, struct adding *ad)
{
	if (--ad->pending == 0)
		measured(op);
}

static void
on_address(struct op *op, const struct dap_answer *a, void *arg)
{
	struct adding *ad = arg;
	const char *value = jget_str(a->body, "result");
	const char *type = jget_str(a->body, "type");
	size_t n;

	if (!is_there(op)) {
		measured_less(op, ad);
		return;
	}
	if (!a->ok || value == NULL ||
	    !format_address(value, &ad->w->address)) {
		ad->why = copy_text(a->ok ? "it is no variable" :
					  memtext_error(a->message));
	} else if (type != NULL) {
		/* "int *" is the type of the address */
		n = strlen(type);
		while (n > 0 && isspace((unsigned char)type[n - 1]))
			n--;
		if (n > 0 && type[n - 1] == '*')
			n--;
		while (n > 0 && isspace((unsigned char)type[n - 1]))
			n--;
		snprintf(ad->w->type, sizeof(ad->w->type), "%.*s", (int)n,
		    type);
	}
	measured_less(op, ad);
}

static void
on_size(struct op *op, const struct dap_answer *a, void *arg)
{
	struct adding *ad = arg;
	const char *value = jget_str(a->body, "result");

	if (a->ok && value != NULL && is_there(op))
		format_number(value, &ad->w->size);
	measured_less(op, ad);
}

static void
on_value(struct op *op, const struct dap_answer *a, void *arg)
{
	struct adding *ad = arg;

	if (a->ok && is_there(op))
		bps_set(&ad->w->value, jget_str(a->body, "result"));
	measured_less(op, ad);
}

static void
evaluate(struct op *op, int64_t frame, const char *before,
    const char *expression, const char *after, dap_fn fn, void *arg)
{
	struct json_object *args = jone_int("frameId", frame);

	jput_fmt(args, "expression", "%s%s%s", before, expression, after);
	jput_str(args, "context", "watch");
	adapter_ask("evaluate", args, op, fn, arg);
}

/* By name within a scope, for adapters whose expressions have no addresses. */
static void
ask_by_name(struct op *op, const struct view *v)
{
	struct adding *ad = op->data;
	struct json_object *args;

	args = jone_int("variablesReference", view_scope(v, "locals"));
	jput_str(args, "name", ad->w->expression);
	adapter_ask("dataBreakpointInfo", args, op, on_data_info, NULL);
}

static void
on_view(struct op *op, const struct view *v, const char *code,
    const char *why, void *arg)
{
	struct adding *ad = op->data;
	const char *expression;

	(void)arg;
	if (!is_there(op)) {
		gone(op);
		return;
	}
	expression = ad->w->expression;
	if (code != NULL || !view_frame_id(v, &ad->frame)) {
		op_fail(op, code == NULL ? "no_such" : code, "%s",
		    why == NULL ? "there is no frame to look in" : why);
		drop(ad->w);
	} else if (!dialect()->watches) {
		ask_by_name(op, v);
	} else {
		ad->pending = 3;
		evaluate(op, ad->frame, "&(", expression, ")", on_address,
		    ad);
		evaluate(op, ad->frame, "(unsigned long)sizeof(", expression,
		    ")", on_size, ad);
		evaluate(op, ad->frame, "", expression, "", on_value, ad);
	}
}

static void
free_adding(void *p)
{
	struct adding *ad = p;

	free(ad->why);
	free(ad);
}

static bool
can_watch(struct op *op)
{
	if (adapter_can("supportsDataBreakpoints"))
		return true;
	op_fail(op, "unsupported", "the adapter %s cannot watch memory; a "
	    "breakpoint with a condition may do instead",
	    dbg.profile == NULL ? "" : dbg.profile->name);
	return false;
}

static void
watch_add(struct op *op)
{
	const char *expression = NULL, *access = "write", *condition = NULL;
	int64_t thread, frame;
	struct adding *ad;
	struct watch *w = find(0);

	/* view_ask() would refuse the last two without a word to on_view() */
	if (!op_string(op, "expression", true, &expression) ||
	    !op_string(op, "access", false, &access) ||
	    !op_string(op, "condition", false, &condition) ||
	    !op_int(op, "thread", false, &thread) ||
	    !op_int(op, "frame", false, &frame) || !can_watch(op))
		return;
	if (strcmp(access, "write") != 0 && strcmp(access, "read") != 0 &&
	    strcmp(access, "access") != 0) {
		op_fail(op, "invalid_argument", "%s is no kind of access; "
		    "there are write, read and access", access);
		return;
	}
	if (w == NULL || (ad = calloc(1, sizeof(*ad))) == NULL) {
		op_fail(op, "too_many", "there are %d watchpoints already",
		    WATCHES);
		return;
	}
	*w = (struct watch) { .id = bps_new_id(),
		.expression = copy_text(expression),
		.condition = copy_text(condition) };
	snprintf(w->access, sizeof(w->access), "%s", access);
	ad->w = w;
	op->word = (uint64_t)w->id;
	op->data = ad;
	op->free_data = free_adding;
	view_ask(op, dialect()->watches ? VIEW_PLACE : VIEW_SCOPES, on_view,
	    NULL);
}

/* -- list, remove ------------------------------------------------------- */
static void
watch_list(struct op *op)
{
	struct json_object *o = jobject();
	struct json_object *arr = jarray();
	size_t i;

	for (i = 0; i < WATCHES; i++)
		if (watches[i].id != 0)
			jadd(arr, watch_json(&watches[i]));
	jput(o, "watchpoints", arr);
	op_reply(op, o);
}

/* Watchpoints of one request; another request may be on its way. */
struct removal {
	size_t		 n;
	int64_t		 ids[WATCHES];
};

static void
removed(struct op *op, const char *why, void *taken)
{
	const struct removal *r = op->data;
	struct json_object *arr = jarray();
	struct json_object *o;
	struct watch *w;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if ((w = find(r->ids[i])) == NULL)
			continue;
		w->going = false;
		if (taken == NULL)
			continue;
		jadd(arr, jint(w->id));
		drop(w);
	}
	if (taken == NULL) {
		bpsend_answer(op, why, "removed", arr);
		return;
	}
	o = jobject();
	jput(o, "removed", arr);
	/* what happened to others */
	jput_str(o, "words", why);
	op_reply(op, o);
}

static void
watch_remove(struct op *op)
{
	struct removal *r = calloc(1, sizeof(*r));
	bool every = false;
	int64_t id = -1;
	size_t i;

	if (r == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return;
	}
	op->data = r;
	op->free_data = free;
	if (!op_bool(op, "all", &every) || !op_int(op, "id", !every, &id))
		return;
	for (i = 0; i < WATCHES; i++) {
		if (watches[i].id == 0 || (!every && watches[i].id != id))
			continue;
		watches[i].going = true;
		r->ids[r->n++] = watches[i].id;
	}
	if (r->n == 0 && !every)
		op_fail(op, "no_such", "there is no watchpoint %" PRId64
		    "; `debugger watch list` shows them", id);
	else if (bpsend_live() && adapter_can("supportsDataBreakpoints"))
		send_all(op, removed);
	else
		removed(op, NULL, r);
}

const struct command watch_commands[] = {
	{ "watch_add", false, ON_STOPPED, watch_add },
	{ "watch_list", true, ON_ANY, watch_list },
	{ "watch_remove", false, ON_ANY, watch_remove },
	{ NULL, false, 0, NULL }
};

/* -- stops -------------------------------------------------------------- */
static unsigned int	reading;
static void		(*read_done)(void);

static bool		guessed;	/* none was named: all are suspects */

static bool
has_changed(const struct watch *w)
{
	return w->was != NULL && w->value != NULL &&
	    strcmp(w->was, w->value) != 0;
}

/* Keeps only the suspects that fit, if any does. */
static bool
keep_only(bool (*fits)(const struct watch *))
{
	bool some = false;
	struct watch *w;

	for (w = watches; w < watches + WATCHES; w++)
		some = some || (w->id != 0 && w->hit && fits(w));
	for (w = watches; some && w < watches + WATCHES; w++)
		w->hit = w->hit && fits(w);
	return some;
}

static bool
sees_reads(const struct watch *w)
{
	return strcmp(w->access, "write") != 0;
}

/*
 * The stop's description has a number that is none of ours: the adapter has
 * used up a number for a watchpoint that it refused.  If only one watchpoint
 * can have been hit, the number belongs to it, and the numbers of the others
 * are shifted by the same difference.
 */
static void
number_anew(void)
{
	const struct watch *only = NULL;
	const char *p = dbg.stop.description;
	int64_t number, by;
	size_t i, n = 0;

	for (i = 0; i < WATCHES; i++)
		if (watches[i].id != 0 && watches[i].hit) {
			only = &watches[i];
			n++;
		}
	if (n != 1 || only->named || strncmp(p, "watchpoint ", 11) != 0)
		return;
	number = strtoll(p + 11, NULL, 10);
	if (!is_number(number))
		return;
	by = number - only->adapter_id;
	for (i = 0; i < WATCHES; i++)
		if (!watches[i].named)
			watches[i].adapter_id += by;
	made += by;
	lost_count = false;
}

static bool
is_numbered(const struct watch *w)
{
	return strncmp(dbg.stop.description, "watchpoint ", 11) == 0 &&
	    strtoll(dbg.stop.description + 11, NULL, 10) == w->adapter_id;
}

/* It has the number, and nothing speaks against it. */
static bool
is_likely(const struct watch *w)
{
	return is_numbered(w) && (has_changed(w) || sees_reads(w));
}

/* Changed memory was written; unchanged memory may have been read. */
static void
guess(void)
{
	if (keep_only(is_likely))
		return;
	if (!keep_only(has_changed))
		(void)keep_only(sees_reads);
	number_anew();
}

static void
read_less(void)
{
	struct watch *w;

	if (--reading > 0)
		return;
	if (guessed)
		guess();
	for (w = watches; w < watches + WATCHES; w++)
		if (w->id != 0 && w->hit)
			w->hits++;
	read_done();
}

static void
on_now(struct op *op, const struct dap_answer *a, void *arg)
{
	struct watch *w = find((int64_t)(intptr_t)arg);
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;

	(void)op;
	if (w != NULL && value != NULL) {
		free(w->was);
		w->was = w->value;
		w->value = copy_text(value);
	}
	read_less();
}

/* "watchpoint 3" of a description; or the adapter's list of ids. */
static bool
is_hit(const struct watch *w)
{
	size_t i;

	for (i = 0; i < dbg.stop.nhits; i++)
		if (dbg.stop.hits[i] == w->adapter_id)
			return true;
	/* by the adapter's own ids, and it has said which */
	if (w->named && dbg.stop.nhits > 0)
		return false;
	return is_numbered(w) && (w->named || !lost_count);
}

static void
read_now(const struct watch *w, int64_t frame)
{
	struct json_object *args = jone_int("frameId", frame);

	/* its frame may be gone, its place is not */
	if (w->address != 0 && w->type[0] != '\0')
		jput_fmt(args, "expression", "*(%s *)0x%" PRIx64, w->type,
		    w->address);
	else
		jput_str(args, "expression", w->expression);
	jput_str(args, "context", "watch");
	reading++;
	adapter_ask("evaluate", args, NULL, on_now,
	    (void *)(intptr_t)w->id);
}

void
watch_gather(int64_t frame, void (*done)(void))
{
	bool any = false, named = false;
	struct watch *w;

	read_done = done;
	reading = 1;
	guessed = false;
	for (w = watches; w < watches + WATCHES; w++) {
		w->hit = false;
		if (w->id == 0 || !w->verified)
			continue;
		any = true;
		if (strcmp(dbg.stop.reason, "watchpoint") == 0 && is_hit(w))
			named = w->hit = true;
	}
	for (w = watches; any && w < watches + WATCHES; w++) {
		if (w->id == 0 || !w->verified)
			continue;
		/* a number that means nothing to us: all of them may be it */
		if (!named && strcmp(dbg.stop.reason, "watchpoint") == 0)
			guessed = w->hit = true;
		if (w->hit)
			read_now(w, frame);
	}
	read_less();
}

void
watch_hits(struct json_object *ids, struct json_object *changed)
{
	struct json_object *o;
	struct watch *w;

	for (w = watches; w < watches + WATCHES; w++) {
		if (w->id == 0 || !w->hit)
			continue;
		jadd(ids, jint(w->id));
		if (w->was == NULL || w->value == NULL)
			continue;
		o = jobject();
		jput_str(o, "name", w->expression);
		jput_str(o, "old", w->was);
		jput_str(o, "new", w->value);
		jadd(changed, o);
	}
}
