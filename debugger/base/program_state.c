/* SPDX-License-Identifier: ISC */
/* The state of the program, made of events in the order of the wire. */
#include <json-c/json.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debuggee.h"
#include "debugger/dap/profile.h"
#include "program_state.h"

static void
enter(struct dbg *d, enum phase phase)
{
	d->phase = phase;
	d->epoch++;
	d->refused[0] = '\0';
}

void
state_begin(struct dbg *d)
{
	enter(d, PHASE_INITIALIZING);
	memset(&d->stop, 0, sizeof(d->stop));
	memset(&d->ending, 0, sizeof(d->ending));
	d->intent = d->before = INTENT_NONE;
	d->has_early = d->has_thread = false;
	d->thread = 0;
	d->frame = 0;
	d->fatal = 0;
	d->pid = 0;
}

void
state_configured(struct dbg *d, bool stop_on_entry)
{
	if (d->phase != PHASE_CONFIGURING)
		return;
	d->intent = stop_on_entry ? INTENT_ENTRY : INTENT_CONTINUE;
	enter(d, PHASE_RUNNING);
}

void
state_resume(struct dbg *d, enum intent intent)
{
	d->before = d->intent;
	d->intent = intent;
	enter(d, PHASE_RUNNING);
}

/* Takes the stop that the launch itself made; without one, the entry. */
static void
stop_early(struct dbg *d)
{
	if (d->has_early) {
		d->stop = d->early;
		d->thread = d->early_thread ? d->early_tid : 0;
		d->has_thread = d->early_thread;
	}
	d->has_early = false;
	d->stop.reason = "entry";
}

/* Events may have said more meanwhile: they are right. */
enum change
state_refused(struct dbg *d, const char *why)
{
	if (d->phase != PHASE_RUNNING)
		return CHANGE_NONE;
	d->intent = d->before;
	enter(d, PHASE_STOPPED);
	if (d->stop.reason == NULL)
		stop_early(d);
	(void)snprintf(d->refused, sizeof(d->refused), "%s", why);
	return CHANGE_STOPPED;
}

void
state_over(struct dbg *d, enum phase phase)
{
	if (d->phase != phase)
		enter(d, phase);
	d->has_thread = false;
}

/* -- stops -- */
static const char *
text_of(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) &&
	    json_object_is_type(v, json_type_string) ?
	    json_object_get_string(v) : "";
}

static bool
flag_of(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) &&
	    json_object_get_boolean(v);
}

/* "signal SIGSEGV: address not mapped": 11; 0 = no signal is named. */
static int
signal_in(const char *text)
{
	const char *name = strstr(text, "SIG"), *abbrev;
	size_t len;
	int n;

	if (name == NULL)
		return 0;
	name += 3;
	len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	for (n = 1; n < NSIG; n++)
		if ((abbrev = sigabbrev_np(n)) != NULL &&
		    strlen(abbrev) == len && memcmp(abbrev, name, len) == 0)
			return n;
	return 0;
}

/* The adapter's words for reasons, and ours. */
static const struct word {
	const char	*raw;
	const char	*reason;
} words[] = {
	{ "step", "step" },
	{ "breakpoint", "breakpoint" },
	{ "function breakpoint", "breakpoint" },
	{ "instruction breakpoint", "breakpoint" },
	{ "data breakpoint", "watchpoint" },
	{ "watchpoint", "watchpoint" },
	{ "exception", "exception" },
	{ "pause", "pause" },
	{ "entry", "entry" },
	{ "goto", "goto" },
	{ "signal", "signal" },
	{ "restart", "entry" },
};

static const char *
known_word(const char *raw)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].raw, raw) == 0)
			return words[i].reason;
	return "other";
}

/*
 * Adapters say "exception" and SIGSTOP for what we asked for ourselves, and
 * "breakpoint" for a watchpoint.
 */
static const char *
reason_of(const struct dbg *d, const struct stop *s)
{
	const bool by_stop = s->signal == SIGSTOP || s->signal == SIGINT ||
	    s->signal == SIGTRAP;
	const bool exception = strcmp(s->raw_reason, "exception") == 0;

	if (d->intent == INTENT_ENTRY && s->nhits == 0 &&
	    (by_stop || !exception))
		return "entry";
	if (d->intent == INTENT_PAUSE && by_stop)
		return "pause";
	if (strncmp(s->description, "watchpoint", 10) == 0)
		return "watchpoint";
	if (exception && strncmp(s->description, "signal ", 7) == 0 &&
	    s->signal != 0)
		return "signal";
	return known_word(s->raw_reason);
}

static void
add_hits(struct stop *s, struct json_object *body)
{
	struct json_object *ids;
	size_t i, k, n;
	int64_t id;

	if (!json_object_object_get_ex(body, "hitBreakpointIds", &ids) ||
	    !json_object_is_type(ids, json_type_array))
		return;
	n = json_object_array_length(ids);
	for (i = 0; i < n && s->nhits < STOP_HITS; i++) {
		id = json_object_get_int64(json_object_array_get_idx(ids, i));
		for (k = 0; k < s->nhits && s->hits[k] != id; k++)
			;
		if (k == s->nhits)
			s->hits[s->nhits++] = id;
	}
}

static void
read_stop(const struct dbg *d, struct stop *s, struct json_object *body)
{
	const char *text = text_of(body, "text");
	const char *description = text_of(body, "description");

	memset(s, 0, sizeof(*s));
	(void)snprintf(s->raw_reason, sizeof(s->raw_reason), "%s",
	    text_of(body, "reason"));
	(void)snprintf(s->description, sizeof(s->description), "%s%s%s",
	    description, *description != '\0' && *text != '\0' ? ": " : "",
	    text);
	s->signal = signal_in(s->description);
	s->preserves = flag_of(body, "preserveFocusHint");
	add_hits(s, body);
	s->reason = reason_of(d, s);
}

/* CodeLLDB tells none but in words: "breakpoint -1.1". */
bool
state_is_internal(const struct stop *s)
{
	size_t i;

	if (strcmp(s->raw_reason, "breakpoint") != 0 ||
	    (s->nhits == 0 && strncmp(s->description, "breakpoint -", 12) != 0))
		return false;
	for (i = 0; i < s->nhits; i++)
		if (s->hits[i] >= 0)
			return false;
	return true;
}

/* Whether the stop that is told later is rather the one to look at. */
static bool
is_better(const struct stop *more, const struct stop *s)
{
	if (state_is_internal(s) != state_is_internal(more))
		return state_is_internal(s);
	return s->preserves && !more->preserves;
}

/* The same stop told by another thread: its hits count, its focus may not. */
static enum change
merge(struct dbg *d, const struct stop *more, bool has_thread, int64_t tid)
{
	const bool better = is_better(more, &d->stop);
	struct stop both = better ? *more : d->stop;
	const struct stop *other = better ? &d->stop : more;
	size_t i, k;

	for (i = 0; i < other->nhits && both.nhits < STOP_HITS; i++) {
		for (k = 0; k < both.nhits && both.hits[k] != other->hits[i]; k++)
			;
		if (k == both.nhits)
			both.hits[both.nhits++] = other->hits[i];
	}
	if (other == &d->stop && has_thread) {
		d->thread = tid;
		d->has_thread = true;
	}
	d->stop = both;
	d->fatal = strcmp(both.reason, "signal") == 0 ? both.signal : 0;
	return CHANGE_FOCUS;
}

/* A new stop: what was looked at before is of no meaning any more. */
static enum change
take_stop(struct dbg *d, const struct stop *s, bool has_thread, int64_t tid)
{
	enter(d, PHASE_STOPPED);
	d->stop = *s;
	d->fatal = strcmp(s->reason, "signal") == 0 ? s->signal : 0;
	d->thread = has_thread ? tid : 0;
	d->has_thread = has_thread;
	d->frame = 0;
	return CHANGE_STOPPED;
}

static enum change
on_stopped(struct dbg *d, struct json_object *body)
{
	struct json_object *v;
	struct stop s;
	bool has_thread = json_object_object_get_ex(body, "threadId", &v) &&
	    json_object_is_type(v, json_type_int);
	int64_t tid = has_thread ? json_object_get_int64(v) : 0;

	read_stop(d, &s, body);
	switch (d->phase) {
	case PHASE_INITIALIZING:
	case PHASE_CONFIGURING:
		/* what the launch itself stopped for: it is about to go on */
		d->early = s;
		d->has_early = true;
		d->early_thread = has_thread;
		d->early_tid = tid;
		return CHANGE_NONE;
	case PHASE_RUNNING:
		return take_stop(d, &s, has_thread, tid);
	case PHASE_STOPPED:
		if (d->refused[0] == '\0')
			return merge(d, &s, has_thread, tid);
		/* the adapter has let the program run all the same */
		(void)take_stop(d, &s, has_thread, tid);
		return CHANGE_MOVED;
	default:
		return CHANGE_NONE;
	}
}

enum change
state_settled(struct dbg *d)
{
	if (!d->has_early || d->phase != PHASE_RUNNING ||
	    d->intent != INTENT_ENTRY)
		return CHANGE_NONE;
	d->has_early = false;
	d->early.reason = "entry";
	return take_stop(d, &d->early, d->early_thread, d->early_tid);
}

enum change
state_runs(struct dbg *d)
{
	if (d->phase != PHASE_STOPPED)
		return CHANGE_NONE;
	/* a client's raw command: its intent is not known */
	d->before = d->intent;
	d->intent = INTENT_NONE;
	enter(d, PHASE_RUNNING);
	return CHANGE_RESUMED;
}

static enum change
on_continued(struct dbg *d, struct json_object *body)
{
	(void)body;
	return state_runs(d);
}

/* -- ends -- */

/*
 * Death by a signal looks like exit(11).  It is one if that was the signal
 * the program was let run with.
 */
static void
set_code(struct dbg *d, int64_t code)
{
	struct ending *e = &d->ending;

	if (e->known || code < INT32_MIN || code > UINT32_MAX)
		return;
	/* what lldb says when the one that traces for it has gone */
	if ((int32_t)code == -1 && d->profile != NULL &&
	    (d->profile->quirks & Q_SIGNAL_IS_CODE) != 0) {
		e->lost = true;
		return;
	}
	e->known = true;
	e->lives = false;
	if (d->fatal != 0 && (code == d->fatal || code == 128 + d->fatal))
		e->signal = d->fatal;
	else if ((int32_t)code < 0 && (int32_t)code > -NSIG)
		e->signal = -(int32_t)code;
	else
		e->code = (int32_t)code;
}

void
state_known(struct dbg *d, int code, int sig)
{
	d->ending.known = d->ending.sure = true;
	d->ending.lives = false;
	d->ending.code = sig == 0 ? code : 0;
	d->ending.signal = sig;
}

static bool
alive(const struct dbg *d)
{
	return d->phase != PHASE_IDLE && d->phase != PHASE_TERMINATED;
}

static enum change
on_exited(struct dbg *d, struct json_object *body)
{
	struct json_object *v;

	/* some say first that it is over, and how a moment later */
	if (d->phase != PHASE_IDLE &&
	    json_object_object_get_ex(body, "exitCode", &v) &&
	    json_object_is_type(v, json_type_int))
		set_code(d, json_object_get_int64(v));
	if (!alive(d))
		return CHANGE_NONE;
	state_over(d, PHASE_TERMINATED);
	return CHANGE_ENDED;
}

/*
 * "terminated" without "exited" is the end with an unknown exit code.
 * debugpy says no more when it cannot attach.
 */
static enum change
on_terminated(struct dbg *d, struct json_object *body)
{
	(void)body;
	if (!alive(d))
		return CHANGE_NONE;
	d->ending.never = d->attached && !d->ending.known &&
	    (d->phase == PHASE_INITIALIZING || d->phase == PHASE_CONFIGURING);
	state_over(d, PHASE_TERMINATED);
	return CHANGE_ENDED;
}

/* Some tell the exit code to people only, and late. */
static enum change
on_output(struct dbg *d, struct json_object *body)
{
	const char *category = text_of(body, "category"), *at;
	const char *words_before = d->profile == NULL ? NULL :
	    d->profile->exit_words;
	char *end;
	long long code;

	if (words_before == NULL || strcmp(category, "stdout") == 0 ||
	    strcmp(category, "stderr") == 0 || d->phase == PHASE_IDLE)
		return CHANGE_NONE;
	at = strstr(text_of(body, "output"), words_before);
	if (at == NULL)
		return CHANGE_NONE;
	code = strtoll(at + strlen(words_before), &end, 10);
	if (end != at + strlen(words_before))
		set_code(d, code);
	return CHANGE_NONE;
}

/* A number of the adapter's namespace. */
static enum change
on_process(struct dbg *d, struct json_object *body)
{
	struct json_object *v;
	int64_t pid;

	if (!json_object_object_get_ex(body, "systemProcessId", &v))
		return CHANGE_NONE;
	pid = json_object_get_int64(v);
	if (pid <= 0 || pid > INT32_MAX)
		return CHANGE_NONE;
	d->pid = (int32_t)pid;
	return CHANGE_PROCESS;
}

enum change
state_event(struct dbg *d, const char *event, struct json_object *body)
{
	static const struct {
		const char	*name;
		enum change	(*fn)(struct dbg *, struct json_object *);
	} events[] = {
		{ "stopped", on_stopped },
		{ "continued", on_continued },
		{ "exited", on_exited },
		{ "terminated", on_terminated },
		{ "output", on_output },
		{ "process", on_process },
	};
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].name, event) == 0)
			return events[i].fn(d, body);
	return CHANGE_NONE;
}
