/* SPDX-License-Identifier: ISC */
/*
 * Stops that are none: conditions, counts and log points that the adapter
 * does not keep itself, and types of exceptions.  The program is stopped
 * while this is found out, and let go again before anybody sees it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "bps.h"
#include "catch.h"
#include "condition.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/dialect.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "debugger/text/memtext.h"
#include "debugger/view/exception.h"
#include "hits.h"
#include "loads.h"

#define LOG_MOST	8192
#define CONDITION_WORDS	400
#define UNFINISHED_MOST	64

static void		(*verdict)(bool resume);
static bool		checked;		/* this stop, already */
static bool		counted;	/* and its hits, too */
static bool		passes;		/* it was not wanted: the program goes on */
static bool		wanted;		/* somebody wants it */
/* Steps that something else stopped before their end, which the adapter may
 * come to yet; and whether this stop is such. */
static unsigned int	unfinished, unfinished_before;
static bool		interrupts;
static int64_t		frame_id;
/* the breakpoints that it may be about, by id: they may go meanwhile */
static int64_t		suspects[BPS_MOST];
static size_t		nsuspects, at;
/* the log: kept from its end */
static char		log_text[LOG_MOST + 1];
static size_t		log_len, log_lost;
/* a message of a log point, as far as it is made */
static char		made[1024];
static size_t		made_len;
static const char	*rest;		/* of the template, bp's own */

static void	 next_suspect(void);
static void	 make_message(struct bp *);

const char *
condition_log(size_t *len, size_t *lost)
{
	*len = log_len;
	*lost = log_lost;
	return log_text;
}

void
condition_log_clear(void)
{
	log_len = log_lost = 0;
	log_text[0] = '\0';
}

void
bps_resumed(void)
{
	size_t i;

	for (i = 0; i < bps_count(); i++) {
		bps_at(i)->was_hit = bps_at(i)->hit;
		bps_at(i)->hit = false;
	}
	unfinished_before = unfinished;
	/* what led to a stop was shown with it */
	if (checked)
		condition_log_clear();
	checked = counted = passes = false;
	if (interrupts && unfinished < UNFINISHED_MOST)
		unfinished++;
	interrupts = false;
	exception_forget();
}

/*
 * Neither counts hits nor logs a second time, and lets the program go no
 * further: an adapter that has just refused to do so would refuse again.
 */
void
bps_stayed(void)
{
	size_t i;

	for (i = 0; i < bps_count(); i++)
		bps_at(i)->hit = bps_at(i)->was_hit;
	unfinished = unfinished_before;
	checked = counted = true;
	passes = false;
}

void
condition_forget(void)
{
	unfinished = unfinished_before = 0;
	interrupts = false;
}

bool
condition_counted(void)
{
	return counted;
}

bool
condition_count_once(void)
{
	bool first = !counted;

	counted = true;
	return first;
}

static void
log_add(const char *text, size_t len)
{
	size_t drop;

	if (len > LOG_MOST)
		len = LOG_MOST;
	drop = log_len + len > LOG_MOST ? log_len + len - LOG_MOST : 0;
	memmove(log_text, log_text + drop, log_len - drop);
	memcpy(log_text + log_len - drop, text, len);
	log_len += len - drop;
	log_lost += drop;
	log_text[log_len] = '\0';
}

/* -- one breakpoint after the other ------------------------------------- */
static void
decide(bool resume)
{
	void (*fn)(bool) = verdict;

	checked = !resume;
	passes = resume;
	verdict = NULL;
	fn(resume);
}

static void
evaluate(const char *expression, dap_fn fn)
{
	struct json_object *args = jone_int("frameId", frame_id);

	jput_str(args, "expression", expression);
	jput_str(args, "context", dialect()->print_context);
	adapter_ask("evaluate", args, NULL, fn, NULL);
}

/* It is hit, its condition holds: does it stop? */
static void
count_hit(struct bp *bp)
{
	bp->hits++;
	if (bp->hit_count > 0 && bp->hits < bp->hit_count) {
		next_suspect();
		return;
	}
	if (bp->log != NULL) {
		made_len = 0;
		rest = bp->log;
		make_message(bp);
		return;
	}
	wanted = bp->hit = true;
	next_suspect();
}

static void
add_made(const char *s, size_t len)
{
	if (len > sizeof(made) - 2 - made_len)
		len = sizeof(made) - 2 - made_len;
	memcpy(made + made_len, s, len);
	made_len += len;
}

static void
on_part(struct op *op, const struct dap_answer *a, void *arg)
{
	struct bp *bp = bps_find(suspects[at - 1]);
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;

	(void)op;
	(void)arg;
	if (value == NULL)
		value = "<cannot be evaluated>";
	add_made(value, strlen(value));
	if (bp == NULL || bp->log == NULL)
		next_suspect();
	else
		make_message(bp);
}

/* The template up to the next {expression}, which is asked for. */
static void
make_message(struct bp *bp)
{
	const char *open, *close = NULL;
	char expression[512];

	(void)bp;
	open = strchr(rest, '{');
	if (open != NULL)
		close = strchr(open, '}');
	if (close == NULL) {
		add_made(rest, strlen(rest));
		made[made_len++] = '\n';
		log_add(made, made_len);
		next_suspect();
		return;
	}
	add_made(rest, (size_t)(open - rest));
	snprintf(expression, sizeof(expression), "%.*s",
	    (int)(close - open - 1), open + 1);
	rest = close + 1;
	evaluate(expression, on_part);
}

static void
on_condition(struct op *op, const struct dap_answer *a, void *arg)
{
	struct bp *bp = bps_find(suspects[at - 1]);
	const char *value = a->ok ? jget_str(a->body, "result") : NULL;
	char words[CONDITION_WORDS];

	(void)op;
	(void)arg;
	if (bp == NULL) {
		next_suspect();
		return;
	}
	if (value == NULL) {
		/* one that cannot be asked stops: better than never */
		snprintf(words, sizeof(words), "%s",
		    a->ok ? "it has no value" : memtext_error(a->message));
		bps_set(&bp->condition_error, words);
		bp->hits++;
		wanted = bp->hit = true;
	} else {
		bp->condition_good = true;
		bps_set(&bp->condition_error, NULL);
		if (hit_true(value)) {
			count_hit(bp);
			return;
		}
	}
	next_suspect();
}

static void
next_suspect(void)
{
	struct bp *bp;

	while (at < nsuspects) {
		if ((bp = bps_find(suspects[at++])) == NULL)
			continue;
		if (bp->condition != NULL)
			evaluate(bp->condition, on_condition);
		else
			count_hit(bp);
		return;
	}
	/* the end of a step or pause is shown, wanted or not */
	decide(!wanted && dbg.intent != INTENT_STEP &&
	    dbg.intent != INTENT_PAUSE);
}

static void
on_place(struct op *op, const struct dap_answer *a, void *arg)
{
	struct json_object *frame = NULL;
	struct bp *bp;
	bool ours = false;
	size_t i;

	(void)op;
	(void)arg;
	if (a->ok)
		frame = jat(jget_arr(a->body, "stackFrames"), 0);
	if (!jget_int(frame, "id", &frame_id)) {
		decide(false);
		return;
	}
	wanted = false;
	nsuspects = at = 0;
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (hit_of(bp, &dbg.stop, frame) == HIT_NO)
			continue;
		/* one that the adapter keeps itself means it */
		if (!bp->checked_here) {
			wanted = wanted || bp->log == NULL;
			ours = true;
			continue;
		}
		ours = true;
		bp->hit = false;
		suspects[nsuspects++] = bp->id;
	}
	/* a stop that is not about any of these stays one */
	if (!ours)
		wanted = true;
	next_suspect();
}

static bool
any_checked_here(void)
{
	size_t i;

	for (i = 0; i < bps_count(); i++)
		if (bps_at(i)->checked_here && bp_wanted(bps_at(i)))
			return true;
	return false;
}

static void
on_exception(const struct exception *e)
{
	decide(!catch_wants(e) && dbg.intent != INTENT_STEP &&
	    dbg.intent != INTENT_PAUSE);
}

/* A step goes on to its end; a pause has come to it. */
static void
check_new_library(void)
{
	const bool pause_here = dbg.intent == INTENT_PAUSE;

	if (pause_here)
		dbg.stop.reason = "pause";
	decide(!pause_here);
}

static void
check_stop(void)
{
	const char *reason = dbg.stop.reason;
	struct json_object *args;

	interrupts = reason != NULL && dbg.intent == INTENT_STEP &&
	    strcmp(reason, "step") != 0 && !loads_is_stop();
	if (checked || reason == NULL) {
		decide(false);
	} else if (loads_is_stop()) {
		check_new_library();
	} else if (passes) {
		/* another look counts no hit and writes no line again */
		decide(dbg.intent != INTENT_PAUSE);
	} else if (dbg.intent == INTENT_CONTINUE && unfinished > 0 &&
	    strcmp(reason, "step") == 0) {
		/* lldb ends a step that a breakpoint had interrupted when it
		 * gets there later: nobody waits for that any more */
		unfinished--;
		decide(true);
	} else if (dbg.intent == INTENT_CONTINUE &&
	    strcmp(dbg.stop.raw_reason, "attach") == 0) {
		/* gdb leaves what it attaches to stopped */
		decide(true);
	} else if (strcmp(reason, "exception") == 0 && catch_has_types()) {
		exception_read(on_exception);
	} else if (strcmp(reason, "breakpoint") == 0 && any_checked_here()) {
		args = jone_int("threadId", dbg.thread);
		jput_int(args, "startFrame", 0);
		jput_int(args, "levels", 1);
		adapter_ask("stackTrace", args, NULL, on_place, NULL);
	} else
		decide(false);
}

void
bps_check_conditions(void (*done)(bool resume))
{
	verdict = done;
	if (loads_any())
		loads_place(check_stop);
	else
		check_stop();
}

/* Is that what a template comes to, with something in place of each {}? */
static bool
is_message(const char *template, const char *text)
{
	const char *open, *close, *found;
	char part[256];
	bool first = true;

	for (;; first = false) {
		open = strchr(template, '{');
		close = open == NULL ? NULL : strchr(open, '}');
		if (close == NULL)
			open = template + strlen(template);
		(void)snprintf(part, sizeof(part), "%.*s",
		    (int)(open - template), template);
		found = strstr(text, part);
		if (found == NULL || (first && found != text))
			return false;
		text = found + strlen(part);
		if (close == NULL)
			return true;
		template = close + 1;
	}
}

/*
 * Log points that the adapter keeps itself speak by its output, like what it
 * has to say of itself.
 */
void
bps_log_event(struct json_object *body)
{
	const char *text = jget_str(body, "output");
	const char *category = jget_str(body, "category");
	const struct bp *bp;
	size_t i, len;

	if (text == NULL || dbg.phase == PHASE_CONFIGURING ||
	    (category != NULL && strcmp(category, "telemetry") == 0))
		return;
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (bp->log == NULL || bp->checked_here || !bp_wanted(bp) ||
		    !is_message(bp->log, text))
			continue;
		len = strlen(text);
		log_add(text, len);
		/* gdb ends no line */
		if (len > 0 && text[len - 1] != '\n')
			log_add("\n", 1);
		return;
	}
}
