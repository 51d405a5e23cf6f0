/* SPDX-License-Identifier: ISC */
/*
 * Telling the adapter about the registry's breakpoints, and events of it.
 * Programs are built elsewhere: a path that means nothing to the adapter is
 * tried again by its end, and the answer says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <json-c/json.h>

#include "bpsend.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/copy.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "loads.h"
#include "split.h"

#define SUFFIXES	3	/* the last 3, 2 and 1 parts of a path */

/* Several lists on their way for one change. */
struct change {
	bpsend_fn	 fn;
	void		*arg;
	size_t		 pending;
	char		*why;
	/* while it waits for its turn to send functions */
	STAILQ_ENTRY(change) entry;
	struct op *op; /* held; may be NULL */
};

STAILQ_HEAD(changes, change);
static struct changes functions = STAILQ_HEAD_INITIALIZER(functions);

/* A list of breakpoints on its way to the adapter. */
struct list {
	struct change	*change;
	char		*path;		/* NULL = functions */
	char		*function;	/* the new one of these; or NULL */
	struct split	 split;		/* its parts */
	bool		 no_new;	/* stale ones are taken out */
	bool		 renews;	/* and are back with this one */
	bool		 again;		/* lines that the answer made stale */
	struct json_object *sent;
};

static void	 list_send(struct op *, struct change *, const char *path);
static void	 list_begin(struct op *, struct change *, const char *path,
		    bool renews);
static void	 functions_next(struct op *, struct change *, const char *why);

bool
bpsend_live(void)
{
	return dbg.phase == PHASE_CONFIGURING || dbg.phase == PHASE_RUNNING ||
	    dbg.phase == PHASE_STOPPED;
}

struct bp_skills
bpsend_skills(void)
{
	return (struct bp_skills) {
		.condition = adapter_can("supportsConditionalBreakpoints"),
		.hit_count = adapter_can("supportsHitConditionalBreakpoints") &&
		    !dialect()->counts_anew,
		.log = adapter_can("supportsLogPoints") &&
		    !dialect()->marks_logs,
		.hit_format = dialect()->hit_format,
		.loses_conditions = dialect()->loses_conditions,
		/* it is sent anew for each library */
		.loses_counts = dialect()->lldb_commands,
	};
}

static void
change_less(struct op *op, struct change *c, const char *why)
{
	if (why != NULL && c->why == NULL)
		c->why = copy_text(why);
	if (--c->pending > 0)
		return;
	/* what stands is let run by a request that comes later */
	if (dbg.phase != PHASE_STOPPED)
		loads_follow(true);
	c->fn(op, c->why, c->arg);
	free(c->why);
	free(c);
}

/* -- other paths -------------------------------------------------------- */
/* The last n parts of a path; NULL: it has fewer. */
static const char *
last_parts(const char *path, unsigned int n)
{
	const char *p = path + strlen(path);

	while (p > path)
		if (*--p == '/' && --n == 0)
			return p + 1;
	return NULL;
}

/* The end of its path that is to be tried next; its file when all were. */
static const char *
next_path(struct bp *bp)
{
	const char *end;

	while (++bp->tries <= SUFFIXES) {
		end = last_parts(bp->file, SUFFIXES + 1 - bp->tries);
		if (end != NULL)
			return end;
	}
	return bp->file;
}

static bool
of_path(const struct bp *bp, const char *path)
{
	return bp->kind == BP_LINE && bp_wanted(bp) &&
	    strcmp(bp->path, path) == 0;
}

/* The first that the adapter did not find in a file it does not know. */
static struct bp *
lost_in(const char *path)
{
	struct bp *bp, *lost = NULL;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!of_path(bp, path))
			continue;
		/* one of them is there: the path is right */
		if (bp->verified)
			return NULL;
		/* what is still on its way there is not lost yet */
		if (lost == NULL && bp->sent && bp->tries <= SUFFIXES)
			lost = bp;
	}
	return lost;
}

/* All of a path go to another one; both lists are sent. */
static void
move_path(struct op *op, struct change *c, const char *from, const char *to,
    unsigned int tries)
{
	char *path = copy_text(to);
	struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!of_path(bp, from))
			continue;
		bp->tries = tries;
		bps_set(&bp->path, path);
	}
	c->pending++;
	list_send(op, c, from);
	c->pending++;
	list_send(op, c, path);
	free(path);
}

/* The line of a list of paths that shares the longest end with path. */
static char *
best_line(const char *lines, const char *path)
{
	const char *p, *end, *best = NULL;
	size_t len, same, most = 0, best_len = 0, n = strlen(path);

	for (p = lines; *p != '\0'; p = *end == '\0' ? end : end + 1) {
		end = p + strcspn(p, "\n");
		len = (size_t)(end - p);
		for (same = 0; same < len && same < n &&
		     p[len - 1 - same] == path[n - 1 - same];)
			same++;
		if (p[0] == '/' && same > most) {
			most = same;
			best = p;
			best_len = len;
		}
	}
	return best == NULL ? NULL : copy_part(best, best_len);
}

static void
on_sources(struct op *op, const struct dap_answer *a, void *arg)
{
	struct list *l = arg;
	const char *lines = a->ok ? jget_str(a->body, "result") : NULL;
	char *path = lines == NULL ? NULL : best_line(lines, l->path);

	if (path != NULL && strcmp(path, l->path) != 0)
		move_path(op, l->change, l->path, path, SUFFIXES + 1);
	free(path);
	change_less(op, l->change, NULL);
	free(l->path);
	free(l);
}

/* Asks which of the program's files have that name. */
static void
ask_sources(struct op *op, struct change *c, const struct bp *bp)
{
	struct json_object *args = jobject();
	struct list *l = calloc(1, sizeof(*l));
	const char *base = strrchr(bp->file, '/');

	if (l == NULL || base == NULL) {
		json_object_put(args);
		free(l);
		return;
	}
	l->change = c;
	l->path = copy_text(bp->path);
	jput_fmt(args, "expression", "%s%s$", dialect()->sources_command,
	    base);
	jput_str(args, "context", "repl");
	c->pending++;
	adapter_ask("evaluate", args, op, on_sources, l);
}

static void
try_others(struct op *op, struct change *c, const char *path)
{
	struct bp *bp = lost_in(path);
	const char *next;

	if (bp == NULL)
		return;
	if (dialect()->suffix_paths) {
		next = next_path(bp);
		move_path(op, c, path, next, bp->tries);
	} else if (dialect()->sources_command != NULL) {
		bp->tries = SUFFIXES + 1;
		ask_sources(op, c, bp);
	}
}

/* Says where those were found that were not where the client said. */
static void
say_found(const char *path)
{
	char words[1024];
	struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!of_path(bp, path) || !bp->verified ||
		    strcmp(bp->path, bp->file) == 0)
			continue;
		snprintf(words, sizeof(words),
		    "the program has no %.400s; took its %.400s", bp->file,
		    bp->actual_file == NULL ? path : bp->actual_file);
		bps_set(&bp->message, words);
	}
}

/* -- lists -------------------------------------------------------------- */
static void
list_free(struct list *l)
{
	json_object_put(l->sent);
	free(l->path);
	free(l->function);
	free(l);
}

static void
list_over(struct op *op, struct list *l, const char *why)
{
	struct change *c = l->change;
	const bool functions_over = l->path == NULL;
	const bool next = why == NULL && (l->no_new || l->again);

	if (why == NULL && (l->function != NULL || l->renews))
		loads_renew(op, l->path, l->function);
	/* what was taken out comes back as if it were new */
	if (!functions_over && next)
		list_begin(op, c, l->path, l->no_new);
	list_free(l);
	if (functions_over)
		functions_next(op, c, why);
	else if (!next)
		change_less(op, c, why);
}

/* Finds the adapter's id of the breakpoint on that function; false: none. */
static bool
id_of(const char *function, int64_t *id)
{
	const struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (bp->kind != BP_FUNCTION || !bp->has_adapter_id ||
		    strcmp(bp->function, function) != 0)
			continue;
		*id = bp->adapter_id;
		return true;
	}
	return false;
}

static void
on_places(struct op *op, const struct dap_answer *a, void *arg)
{
	struct list *l = arg;
	const char *text = a->ok ? jget_str(a->body, "result") : NULL;
	struct split_place at;
	int64_t id;

	if (text != NULL && id_of(l->function, &id) &&
	    split_take(op, &l->split, id, text, &at)) {
		bps_placed(l->function, at.file, at.line, at.address);
		free(at.file);
	}
	list_over(op, l, NULL);
}

static void
on_list(struct op *op, const struct dap_answer *a, void *arg)
{
	const struct bp_skills can = bpsend_skills();
	struct list *l = arg;
	int64_t id;

	if (a->ok) {
		bps_replied(l->path, l->sent,
		    jget_arr(a->body, "breakpoints"));
		/* of one that waits now, the adapter may keep less */
		bps_decide(&can);
		l->again = bps_mark_conditions(l->path, l->sent);
	}
	if (a->ok && l->path != NULL) {
		try_others(op, l->change, l->path);
		say_found(l->path);
	}
	if (a->ok && l->split.n > 0 && id_of(l->function, &id))
		split_places(op, id, on_places, l);
	else
		list_over(op, l, a->ok ? NULL : a->message);
}

static void
list_ask(struct op *op, struct list *l)
{
	struct json_object *args = jobject();
	struct bp_skills can = bpsend_skills();
	const bool split = l->split.n > 0;

	bps_decide(&can);
	l->sent = l->no_new ? bps_wire_sent(l->path, &can) :
	    bps_wire(l->path, &can);
	if (l->path != NULL)
		jput(args, "source", jone_str("path", l->path));
	jput(args, "breakpoints", json_object_get(l->sent));
	if (split)
		split_skip(op, false);
	/* on_list() may be called before this returns, and frees l */
	adapter_ask(l->path == NULL ? "setFunctionBreakpoints" :
				      "setBreakpoints", args, op, on_list, l);
	if (split)
		split_skip(op, true);
}

static void
on_parts(struct op *op, const struct dap_answer *a, void *arg)
{
	struct list *l = arg;
	const char *next = bps_function_next();
	struct change *c = l->change;

	/* another one was taken out meanwhile */
	if (next == NULL || strcmp(next, l->function) != 0) {
		list_free(l);
		list_send(op, c, NULL);
		return;
	}
	split_read(&l->split, a->ok ? jget_str(a->body, "result") : NULL);
	list_ask(op, l);
}

static void
list_begin(struct op *op, struct change *c, const char *path, bool renews)
{
	struct list *l = calloc(1, sizeof(*l));
	const char *function;

	if (l == NULL) {
		if (path == NULL)
			functions_next(op, c, "out of memory");
		else
			change_less(op, c, "out of memory");
		return;
	}
	l->change = c;
	l->path = copy_text(path);
	l->renews = renews;
	l->no_new = bps_unsend_stale(path);
	function = path == NULL && !l->no_new && dialect()->lldb_commands ?
	    bps_function_next() : NULL;
	l->function = copy_text(function);
	if (function != NULL)
		split_look(op, function, on_parts, l);
	else
		list_ask(op, l);
}

static void
list_send(struct op *op, struct change *c, const char *path)
{
	list_begin(op, c, path, false);
}

/*
 * Changes go one after the other, each with as many lists as it has functions
 * that the adapter does not know, see bps_wire().
 */
static void
functions_send(struct op *op, struct change *c)
{
	bool first = STAILQ_EMPTY(&functions);

	c->op = op == NULL ? NULL : op_ref(op);
	STAILQ_INSERT_TAIL(&functions, c, entry);
	if (first)
		list_send(op, c, NULL);
}

static void
functions_next(struct op *op, struct change *c, const char *why)
{
	struct op *held = c->op;
	struct change *next;

	if (why == NULL && bps_function_next() != NULL) {
		list_send(op, c, NULL);
		return;
	}
	STAILQ_REMOVE_HEAD(&functions, entry);
	/* before c ends: its callback may begin another change */
	if ((next = STAILQ_FIRST(&functions)) != NULL)
		list_send(next->op, next, NULL);
	change_less(op, c, why);
	if (held != NULL)
		op_unref(held);
}

void
bpsend_anew(bpsend_fn fn)
{
	struct change *c = calloc(1, sizeof(*c));
	struct bp *bp;
	size_t i;

	if (c == NULL) {
		fn(NULL, "out of memory", NULL);
		return;
	}
	*c = (struct change) { .fn = fn, .pending = 1 };
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (bp->kind != BP_LINE || !bp->stale)
			continue;
		/* one list is for all of its path, which are not stale then */
		c->pending++;
		list_send(NULL, c, bp->path);
	}
	functions_send(NULL, c);
}

/* Clears the marks of a place, which is sent once. */
static void
undirty(const char *path)
{
	struct bp *bp;
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (path == NULL ? bp->kind != BP_FUNCTION :
				   bp->kind != BP_LINE ||
				       strcmp(bp->path, path) != 0)
			continue;
		bp->dirty = false;
	}
}

void
bpsend_dirty(struct op *op, bpsend_fn fn, void *arg)
{
	struct change *c = calloc(1, sizeof(*c));
	struct bp *bp;
	size_t i;

	if (c == NULL) {
		fn(op, "out of memory", arg);
		return;
	}
	*c = (struct change) { .fn = fn, .arg = arg, .pending = 1 };
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!bp->dirty)
			continue;
		bp->dirty = false;
		if (!bpsend_live())
			continue;
		undirty(bp->kind == BP_LINE ? bp->path : NULL);
		c->pending++;
		if (bp->kind == BP_LINE)
			list_send(op, c, bp->path);
		else
			functions_send(op, c);
	}
	change_less(op, c, NULL);
}

void
bpsend_answer(struct op *op, const char *why, const char *member,
    struct json_object *list)
{
	struct json_object *o;

	if (why != NULL) {
		json_object_put(list);
		op_fail(op, "refused", "the adapter refused that: %s", why);
		return;
	}
	o = jobject();
	jput(o, member, list);
	op_reply(op, o);
}

/* -- events ------------------------------------------------------------- */
void
bps_event(struct json_object *body)
{
	struct json_object *dap = jget_obj(body, "breakpoint");
	const char *reason = jget_str(body, "reason");
	struct bp *bp;
	int64_t id;
	size_t i;
	bool was;

	if (!jget_int(dap, "id", &id))
		return;
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (!bp->has_adapter_id || bp->adapter_id != id)
			continue;
		was = bp->verified;
		if (reason != NULL && strcmp(reason, "removed") == 0)
			bp->verified = false;
		else
			bp_told(bp, dap);
		loads_note(bp, was);
	}
}

void
bpsend_forget(void)
{
	bps_untold();
	loads_forget();
}
