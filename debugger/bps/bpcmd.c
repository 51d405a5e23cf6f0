/* SPDX-License-Identifier: ISC */
/* The commands about breakpoints, and those that a start brings along. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "bpcmd.h"
#include "bpsend.h"
#include "debugger/base/command.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/stop/summary.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/view/source.h"

/* -- what a client wants ------------------------------------------------ */
/* Strings that it may give; of others we say which. */
static const char *
text_of(struct op *op, struct json_object *args, const char *name, bool *bad)
{
	struct json_object *v;

	if (!json_object_object_get_ex(args, name, &v) || v == NULL)
		return NULL;
	if (json_object_is_type(v, json_type_string) &&
	    json_object_get_string_len(v) > 0)
		return json_object_get_string(v);
	if (!*bad)
		op_fail(op, "invalid_argument",
		    "%s of a breakpoint is not a text", name);
	*bad = true;
	return NULL;
}

static int64_t
number_of(struct op *op, struct json_object *args, const char *name,
    bool *bad)
{
	struct json_object *v;
	int64_t n = 0;

	if (!json_object_object_get_ex(args, name, &v) || v == NULL)
		return 0;
	if (jget_int(args, name, &n) && n > 0 && n <= INT32_MAX)
		return n;
	if (!*bad)
		op_fail(op, "invalid_argument",
		    "%s of a breakpoint is %s, not a number from 1 on", name,
		    json_object_to_json_string(v));
	*bad = true;
	return 0;
}

static const char *(*file_in_view)(void);

void
bps_use_file(const char *(*fn)(void))
{
	file_in_view = fn;
}

/* The client's directory says what its relative paths mean. */
static void
set_file(struct op *op, struct bp *bp, struct json_object *args,
    const char *file)
{
	const char *cwd = jget_str(args, "cwd");
	char path[PATH_MAX];

	if (cwd == NULL && op != NULL)
		cwd = jget_str(op->args, "cwd");
	if (cwd == NULL)
		cwd = dbg.cwd;
	if (!source_find(file, cwd, path, sizeof(path)))
		source_absolute(file, cwd, path, sizeof(path));
	bps_set(&bp->file, path);
	bps_set(&bp->path, path);
}

/* NULL: refused with words. */
static struct bp *
bp_from(struct op *op, struct json_object *args)
{
	bool bad = false;
	const char *file = text_of(op, args, "file", &bad);
	const char *function = text_of(op, args, "function", &bad);
	const char *condition = text_of(op, args, "condition", &bad);
	const char *log = text_of(op, args, "log", &bad);
	int64_t line = number_of(op, args, "line", &bad);
	int64_t hit_count = number_of(op, args, "hit_count", &bad);
	struct bp *bp;

	if (bad)
		return NULL;
	/* a line alone is one of the file in view */
	if (file == NULL && function == NULL && line > 0 &&
	    *file_in_view() != '\0')
		file = file_in_view();
	if (file == NULL && function == NULL && line > 0 &&
	    dbg.phase == PHASE_STOPPED) {
		op_fail(op, "invalid_argument", "the frame in view has no "
		    "source here, which line %" PRId64 " could be of: give "
		    "FILE:LINE", line);
		return NULL;
	}
	if ((function == NULL) == (file == NULL) ||
	    (file != NULL) != (line > 0)) {
		op_fail(op, "invalid_argument", "a breakpoint is at a file "
		    "and line, \"main.c:12\", or at a function");
		return NULL;
	}
	bp = bps_new(file != NULL ? BP_LINE : BP_FUNCTION);
	if (bp == NULL) {
		op_fail(op, "too_many", "there are %d breakpoints already; "
		    "remove some", BPS_MOST);
		return NULL;
	}
	if (file != NULL)
		set_file(op, bp, args, file);
	bp->line = line;
	bp->hit_count = hit_count;
	bp->may_pend = jget_bool(args, "pending");
	bps_set(&bp->function, function);
	bps_set(&bp->condition, condition);
	bps_set(&bp->log, log);
	return bp;
}

/* -- breakpoint_add ----------------------------------------------------- */
static void
reply_bp(struct op *op, const struct bp *bp)
{
	struct json_object *o = jobject();
	char words[2048];

	jput(o, "breakpoint", bp_json(bp));
	bp_words(bp, words, sizeof(words));
	jput_str(o, "words", words);
	op_reply(op, o);
}

static void
nothing(struct op *op, const char *why, void *arg)
{
	(void)op;
	(void)why;
	(void)arg;
}

/* Takes a breakpoint back that came to nothing. */
static void
roll_back(struct bp *bp)
{
	bool told = bp->sent;

	bp->going = bp->dirty = true;
	if (told)
		bpsend_dirty(NULL, nothing, NULL);
	bps_free(bp);
}

static void
added(struct op *op, const char *why, void *arg)
{
	struct bp *bp = bps_find((int64_t)op->word);

	(void)arg;
	if (bp == NULL) {
		op_fail(op, "no_such", "breakpoint %" PRIu64
		    " was removed meanwhile", op->word);
		return;
	}
	if (why != NULL) {
		bp->sent = false;
		op_fail(op, "not_verified", "the adapter refused it: %s", why);
		roll_back(bp);
		return;
	}
	/* words mean no; silence, that its library may come later */
	if (bp->sent && !bp->verified && bp->message != NULL &&
	    !bp->may_pend) {
		op_fail(op, "not_verified", "no breakpoint there: %s",
		    bp->message);
		roll_back(bp);
		return;
	}
	reply_bp(op, bp);
}

static void
breakpoint_add(struct op *op)
{
	struct bp *bp = bp_from(op, op->args);

	if (bp == NULL)
		return;
	op->word = (uint64_t)bp->id;
	bp->dirty = true;
	bpsend_dirty(op, added, NULL);
}

/* -- list, remove, enable, disable -------------------------------------- */
static bool
shown(const struct bp *bp)
{
	return bp->catcher == 0 && !bp->once && !bp->going;
}

static void
breakpoint_list(struct op *op)
{
	struct json_object *o = jobject();
	struct json_object *arr = jarray();
	size_t i;

	for (i = 0; i < bps_count(); i++)
		if (shown(bps_at(i)))
			jadd(arr, bp_json(bps_at(i)));
	jput(o, "breakpoints", arr);
	op_reply(op, o);
}

/* Breakpoints that a change is about, to undo it if it is refused. */
struct chosen {
	size_t		 n;
	int64_t		 id[BPS_MOST];
	struct {
		bool	 enabled, sent, verified;
	}		 was[BPS_MOST];
};

static bool
choose(struct op *op)
{
	struct chosen *c = calloc(1, sizeof(*c));
	bool every = false;
	int64_t id = 0;
	size_t i;

	if (c == NULL) {
		op_fail(op, "internal_error", "out of memory");
		return false;
	}
	op->data = c;
	op->free_data = free;
	if (!op_bool(op, "all", &every) || !op_int(op, "id", !every, &id))
		return false;
	for (i = 0; i < bps_count(); i++)
		if (shown(bps_at(i)) && (every || bps_at(i)->id == id))
			c->id[c->n++] = bps_at(i)->id;
	if (c->n > 0 || every)
		return true;
	op_fail(op, "no_such", "there is no breakpoint %" PRId64
	    "; `debugger breakpoint list` shows them", id);
	return false;
}

static void
removed(struct op *op, const char *why, void *arg)
{
	const struct chosen *c = op->data;
	struct json_object *arr = jarray();
	struct bp *bp;
	size_t i;

	(void)arg;
	for (i = 0; i < c->n; i++) {
		jadd(arr, jint(c->id[i]));
		if ((bp = bps_find(c->id[i])) == NULL)
			continue;
		if (why == NULL)
			bps_free(bp);
		else
			bp->going = false;
	}
	bpsend_answer(op, why, "removed", arr);
}

static void
breakpoint_remove(struct op *op)
{
	const struct chosen *c;
	struct bp *bp;
	size_t i;

	if (!choose(op))
		return;
	c = op->data;
	for (i = 0; i < c->n; i++) {
		bp = bps_find(c->id[i]);
		bp->going = true;
		bp->dirty = bp->enabled;
	}
	bpsend_dirty(op, removed, NULL);
}

static void
switched(struct op *op, const char *why, void *arg)
{
	const struct chosen *c = op->data;
	struct json_object *arr = jarray();
	struct bp *bp;
	size_t i;

	(void)arg;
	for (i = 0; i < c->n; i++) {
		if ((bp = bps_find(c->id[i])) == NULL)
			continue;
		if (why != NULL && bp->enabled != c->was[i].enabled) {
			bp->enabled = c->was[i].enabled;
			bp->sent = c->was[i].sent;
			bp->verified = c->was[i].verified;
			bp->dirty = true;
		}
		jadd(arr, bp_json(bp));
	}
	/* of several lists, some may have been taken */
	if (why != NULL)
		bpsend_dirty(NULL, nothing, NULL);
	bpsend_answer(op, why, "breakpoints", arr);
}

static void
set_enabled(struct op *op, bool on)
{
	struct chosen *c;
	struct bp *bp;
	size_t i;

	if (!choose(op))
		return;
	c = op->data;
	for (i = 0; i < c->n; i++) {
		bp = bps_find(c->id[i]);
		c->was[i].enabled = bp->enabled;
		c->was[i].sent = bp->sent;
		c->was[i].verified = bp->verified;
		bp->dirty = bp->enabled != on;
		bp->enabled = on;
		if (!on)
			bp->verified = bp->sent = false;
	}
	bpsend_dirty(op, switched, NULL);
}

static void
breakpoint_enable(struct op *op)
{
	set_enabled(op, true);
}

static void
breakpoint_disable(struct op *op)
{
	set_enabled(op, false);
}

const struct command bp_commands[] = {
	{ "breakpoint_add", false, ON_ANY, breakpoint_add },
	{ "breakpoint_list", true, ON_ANY, breakpoint_list },
	{ "breakpoint_remove", false, ON_ANY, breakpoint_remove },
	{ "breakpoint_enable", false, ON_ANY, breakpoint_enable },
	{ "breakpoint_disable", false, ON_ANY, breakpoint_disable },
	{ NULL, false, 0, NULL }
};

/* -- those of a start --------------------------------------------------- */
bool
bps_preset(struct op *op, struct json_object *breaks)
{
	struct bp *bp;
	size_t i, n;

	for (i = n = 0; i < jlen(breaks); i++) {
		if ((bp = bp_from(op, jat(breaks, i))) == NULL)
			break;
		bp->preset = true;
		n++;
	}
	if (i == jlen(breaks))
		return true;
	/* all or none */
	while (n-- > 0)
		bps_free(bps_at(bps_count() - 1));
	return false;
}

void
bps_preset_drop(void)
{
	size_t i = bps_count();

	while (i-- > 0)
		if (bps_at(i)->preset)
			bps_free(bps_at(i));
}

const char *
bps_preset_bad(void)
{
	static char all[4096];
	char words[2048];
	struct bp *bp;
	size_t i, len;

	all[0] = '\0';
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!bp->preset || bp->verified || bp->may_pend ||
		    !bp->enabled)
			continue;
		bp_words(bp, words, sizeof(words));
		len = strlen(all);
		snprintf(all + len, sizeof(all) - len, "%s%s",
		    len > 0 ? "; " : "", words);
	}
	/* good ones are like any other from now on */
	for (i = 0; all[0] == '\0' && i < bps_count(); i++)
		bps_at(i)->preset = false;
	return all[0] == '\0' ? NULL : all;
}

/* -- until -------------------------------------------------------------- */
/*
 * A place without code would be run for in vain: with the program stopped the
 * adapter knows. Before it is launched nothing is verified anywhere yet.
 */
static const char *
until_bad(const struct bp *bp, char *words, size_t room)
{
	if (bp == NULL || bp->kind != BP_LINE)
		return NULL;
	if (bp->verified && bp->actual_line > 0 && bp->actual_line < bp->line)
		/* behind the end of the file: it would stop before */
		snprintf(words, room, "there is no code at %s:%" PRId64
		    ": the last line with any is %" PRId64, bp->file,
		    bp->line, bp->actual_line);
	else if (!bp->verified)
		snprintf(words, room, "there is no code at %s:%" PRId64 "%s%s",
		    bp->file, bp->line, bp->message == NULL ? "" : ": ",
		    bp->message == NULL ? "" : bp->message);
	else
		return NULL;
	return words;
}

static void
until_set(struct op *op, const char *why, void *arg)
{
	char words[2048];
	done_fn done;

	memcpy(&done, &arg, sizeof(done));
	if (why == NULL)
		why = until_bad(bps_find(op->made), words, sizeof(words));
	if (why != NULL)
		bps_until_drop(op);
	done(op, why);
}

void
bps_until(struct op *op, const char *file, int64_t line, const char *function,
    done_fn done)
{
	struct bp *bp = bps_new_once(file != NULL ? BP_LINE : BP_FUNCTION);
	void *arg;

	if (bp == NULL) {
		done(op, "there are too many breakpoints");
		return;
	}
	op->made = bp->id;
	bp->dirty = true;
	bp->line = line;
	bps_set(&bp->function, function);
	if (file != NULL)
		set_file(op, bp, NULL, file);
	/* a function's address does not fit a void * by the letter of C */
	memcpy(&arg, &done, sizeof(arg));
	bpsend_dirty(op, until_set, arg);
}

void
bps_until_drop(struct op *op)
{
	struct bp *bp = bps_find(op->made);

	if (bp == NULL)
		return;
	bp->going = bp->dirty = true;
	bpsend_dirty(NULL, nothing, NULL);
	bps_free(bp);
}

void
bps_until_over(void)
{
	struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++)
		if (bps_at(i)->once)
			bps_at(i)->going = bps_at(i)->dirty = true;
	bpsend_dirty(NULL, nothing, NULL);
	for (i = bps_count(); i-- > 0;)
		if ((bp = bps_at(i))->once)
			bps_free(bp);
}
