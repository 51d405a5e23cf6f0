/* SPDX-License-Identifier: ISC */
/*
 * The middle of a debugger process: what the link and the adapter tell goes
 * from here to those whom it concerns.
 */
#include <json-c/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/op.h"
#include "debugger/base/process_watch.h"
#include "debugger/base/program_state.h"
#include "debugger/bps/bpcmd.h"
#include "debugger/bps/bps.h"
#include "debugger/bps/bpsend.h"
#include "debugger/bps/catch.h"
#include "debugger/bps/condition.h"
#include "debugger/bps/configure.h"
#include "debugger/bps/loads.h"
#include "debugger/dap/adapter.h"
#include "debugger/dap/profile.h"
#include "debugger/stop/summary.h"
#include "debugger/stop/wait.h"
#include "debugger/text/json_make.h"
#include "engine.h"
#include "exec.h"
#include "launch.h"

#define FAREWELL_MS	5000	/* for one to say how the program ended */
#define LAST_WORDS_MS	300	/* for an adapter that closed its output to end */
#define AGAIN_MAX	3	/* a stop that is told again is looked at anew */
#define LOOK_MS		50	/* between looks whether a program is dying */
#define LOOKS_MAX	10

static const struct engine_observer *observer;

static struct loop_timer settle_timer, lost_timer, farewell_timer;

static void	farewell(void);
/* what is known of the present stop is being asked for; and once more */
static bool		gathering_now, again;
static bool		moved;		/* since, to another stop */
static unsigned int	rounds;		/* of that, because of again */
static unsigned int	drains;		/* not yet answered */
static char		lost_why[160];
static bool		awaits_end;	/* of an adapter beside the program */
static unsigned int	looks;
static struct dbg_state	told;

static void	begin_gathering(void);
static void	settle_again(void);

/* -- what others are told -- */
void
engine_tell_link(void)
{
	struct dbg_state s;

	/* padding is compared, too */
	memset(&s, 0, sizeof(s));
	s.phase = dbg.phase;
	s.pid = dbg.pid;
	s.ended = dbg.phase == PHASE_TERMINATED && dbg.ending.known;
	s.code = s.ended ? dbg.ending.code : 0;
	s.signal = s.ended ? dbg.ending.signal : 0;
	if (memcmp(&s, &told, sizeof(s)) == 0)
		return;
	memcpy(&told, &s, sizeof(s));
	link_state(&s);
}

void
engine_tell(void)
{
	observer->phase();
	engine_tell_link();
}

void
engine_going_on(void)
{
	loop_timer_unset(&settle_timer);
	dbg.gathering = gathering_now;
	bps_resumed();
	loads_follow(true);
}

void
engine_resuming(void)
{
	dbg.out_from = dbg.out_to;
	engine_going_on();
}

/* -- a stop or the end: find out all about it, then tell who waits -- */
/*
 * Where it was asked to run to is no breakpoint of anybody's: main, to which
 * a start without breakpoints runs, or the line of `until`.
 */
static void
name_stop(void)
{
	const struct bp *once = NULL, *bp;
	size_t i;

	if (dbg.phase != PHASE_STOPPED ||
	    strcmp(dbg.stop.reason, "breakpoint") != 0)
		return;
	for (i = 0; i < bps_count(); i++) {
		bp = bps_at(i);
		if (bp->hit && !bp->once)
			return;
		if (bp->hit)
			once = bp;
	}
	if (once != NULL)
		dbg.stop.reason = once->function != NULL ? "entry" : "until";
}

static void
finish(void)
{
	bool more;

	if (gathering_now || drains > 0 || settle_timer.slot != 0)
		return;
	more = again;
	again = false;
	if (moved)
		bps_resumed();
	moved = false;
	/* one that never ends to tell it must not keep everybody waiting */
	if (more && ++rounds <= AGAIN_MAX) {
		begin_gathering();
		return;
	}
	rounds = 0;
	name_stop();
	bps_until_over();
	dbg.gathering = false;
	engine_tell();
	wait_settle();
	exec_settled();
	if (more && dbg.phase == PHASE_STOPPED)
		settle_again();
	/* with the program its adapter has nothing left to do */
	if (dbg.phase == PHASE_TERMINATED && launch_tree_up())
		link_kill();
}

static void
stop_gathered(void)
{
	gathering_now = false;
	finish();
}

/* It is a stop that counts, unless something else happened meanwhile. */
static void
on_conditions(bool resume)
{
	if (resume && dbg.phase == PHASE_STOPPED && !again) {
		gathering_now = false;
		exec_let_go();
		return;
	}
	if (dbg.phase == PHASE_STOPPED)
		loads_follow(false);
	drains++;
	link_drain();
	summary_gather(stop_gathered);
}

/* sys.exit(3) is an end, whatever the adapter calls it. */
static bool
is_exit(void)
{
	const char *name = dbg.profile->no_exception;

	return name != NULL && strcmp(dbg.stop.reason, "exception") == 0 &&
	    strstr(dbg.stop.description, name) != NULL;
}

/*
 * A program that was there before has ended, by itself or with its adapter,
 * which could not say how any more.
 */
static bool
went_with_it(void)
{
	int status;

	if (!dbg.attached || !procwatch_over(&status))
		return false;
	if (status != 0)
		state_known(&dbg, WEXITSTATUS(status), WTERMSIG(status));
	return true;
}

static void
on_no_end(void *arg)
{
	(void)arg;
	awaits_end = false;
	on_conditions(false);
}

static void	on_told(void);

static void
on_look(void *arg)
{
	(void)arg;
	on_told();
}

/*
 * Where the adapter has lost sight of the program, or has died itself, that may
 * have been let go, or be dying still: what a debugger hears of an end comes
 * before the end, and what kills both need not kill the program first.
 */
static bool
looks_again(void)
{
	struct ending *e = &dbg.ending;

	if (dbg.phase != PHASE_TERMINATED || e->known)
		return false;
	if (went_with_it()) {
		e->lives = e->adapter_died = false;
		return false;
	}
	if (e->never || (!e->lost && !e->adapter_died))
		return false;
	if (dbg.attached && looks++ < LOOKS_MAX) {
		loop_timer_set(&farewell_timer, LOOK_MS, on_look, NULL);
		return true;
	}
	e->lives = dbg.attached;
	return false;
}

/* Stops looking for the program's end: the session ends without waiting. */
void
engine_conclude(void)
{
	loop_timer_unset(&farewell_timer);
	looks = LOOKS_MAX;
	(void)looks_again();
}

/*
 * For a program that ran before the debugger, its parent knows the end better
 * than the adapter, to which a signal is a code.  The parent's word comes with
 * the adapter's end.
 */
static void
on_told(void)
{
	if (looks_again())
		return;
	looks = 0;
	if (dbg.phase != PHASE_TERMINATED || !launch_is_beside() ||
	    !launch_tree_up()) {
		on_conditions(false);
		return;
	}
	awaits_end = true;
	loop_timer_set(&farewell_timer, FAREWELL_MS, on_no_end, NULL);
	link_kill();
}

static void
check_conditions(void)
{
	if (dbg.phase == PHASE_STOPPED && is_exit())
		on_conditions(true);
	else if (dbg.phase == PHASE_STOPPED)
		bps_check_conditions(on_conditions);
	else if (dbg.phase == PHASE_TERMINATED && !dbg.ending.known &&
	    adapter_up())
		farewell();
	else
		on_told();
}

static void
on_threads(struct op *op, const struct dap_answer *a, void *arg)
{
	struct json_object *list, *id;

	(void)op;
	(void)arg;
	if (!dbg.has_thread && a->ok &&
	    json_object_object_get_ex(a->body, "threads", &list) &&
	    json_object_is_type(list, json_type_array) &&
	    json_object_object_get_ex(json_object_array_get_idx(list, 0),
	    "id", &id)) {
		dbg.thread = json_object_get_int64(id);
		dbg.has_thread = true;
	}
	check_conditions();
}

/* Some stops tell no thread: which there are is asked at each of them. */
static void
begin_gathering(void)
{
	gathering_now = true;
	if (dbg.phase == PHASE_STOPPED && !dbg.has_thread)
		adapter_ask("threads", NULL, NULL, on_threads, NULL);
	else
		check_conditions();
}

static void
on_farewell(struct op *op, const struct dap_answer *a, void *arg)
{
	(void)op;
	(void)a;
	(void)arg;
	loop_timer_unset(&farewell_timer);
	on_told();
}

static void
on_no_farewell(void *arg)
{
	(void)arg;
	link_kill();
}

/* Some tell how the program ended after its end, or when they are left. */
static void
farewell(void)
{
	loop_timer_set(&farewell_timer, FAREWELL_MS, on_no_farewell, NULL);
	adapter_ask("disconnect", jobject(), NULL, on_farewell, NULL);
}

/*
 * All events of the stop that came with it have been read by now.  Where the
 * adapter is lost as well, its end is what there is to tell, in a moment.
 */
static void
on_settle(void *arg)
{
	(void)arg;
	if (dbg.phase == PHASE_STOPPED && lost_why[0] != '\0')
		return;
	if (gathering_now)
		again = true;
	else if (dbg.phase != PHASE_STOPPED || !exec_goes_on())
		begin_gathering();
}

static void
settle_soon(void)
{
	dbg.gathering = true;
	loop_timer_set(&settle_timer, 0, on_settle, NULL);
}

/* Forgets the stop before, of which something may still be being asked. */
static void
settle_anew(void)
{
	if (gathering_now)
		moved = true;
	else
		bps_resumed();
	settle_soon();
}

/* More is known of this stop: not before what is being asked is answered. */
static void
settle_again(void)
{
	if (gathering_now)
		again = true;
	else if (settle_timer.slot == 0)
		settle_soon();
}

void
engine_change(enum change change)
{
	switch (change) {
	case CHANGE_STOPPED:
	case CHANGE_ENDED:
		settle_soon();
		break;
	case CHANGE_FOCUS:
		settle_again();
		break;
	case CHANGE_MOVED:
		settle_anew();
		break;
	case CHANGE_RESUMED:
		engine_resuming();
		exec_watch(NULL);
		break;
	case CHANGE_PROCESS:
		procwatch_begin(link_pid(dbg.pid));
		break;
	case CHANGE_NONE:
		break;
	}
	/* a stop is told when it is known to be one, an end with its code */
	if (change == CHANGE_RESUMED || change == CHANGE_PROCESS)
		engine_tell();
}

void
engine_stayed(const char *why)
{
	struct json_object *body;

	if (state_refused(&dbg, why) != CHANGE_STOPPED)
		return;
	bps_stayed();
	/* an editor may have been answered already */
	body = jobject();
	jput(body, "category", jtext("important"));
	jput(body, "output", jtext(why));
	observer->event("output", body);
	json_object_put(body);
	engine_change(CHANGE_STOPPED);
}

/* -- the adapter -- */
static void
on_output(struct json_object *body)
{
	if (dbg.phase == PHASE_RUNNING || dbg.phase == PHASE_STOPPED)
		bps_log_event(body);
}

/*
 * Looks at a stop again when an expression has loaded a library.  While the
 * program runs, a stop for the load follows, unless no breakpoint was known to
 * wait.
 */
static void
places_moved(void)
{
	if (dbg.phase == PHASE_STOPPED)
		settle_again();
	else if (dbg.phase == PHASE_RUNNING && !loads_stop_comes())
		loads_place(NULL);
}

static void
on_event(const char *name, struct json_object *body)
{
	struct json_object *more;

	if (strcmp(name, "initialized") == 0)
		launch_initialized();
	else if (strcmp(name, "breakpoint") == 0) {
		bps_event(body);
		catch_event(body);
		if (loads_any())
			places_moved();
	} else if (strcmp(name, "output") == 0)
		on_output(body);
	else if (strcmp(name, "capabilities") == 0 &&
	    json_object_object_get_ex(body, "capabilities", &more) &&
	    json_object_is_type(more, json_type_object))
		adapter_merge(more);
	engine_change(state_event(&dbg, name, body));
	observer->event(name, body);
}

static void
on_last_words(void *arg)
{
	(void)arg;
	link_kill();
}

/* How it ended is worth waiting for a moment, before all of it is killed. */
static void
on_lost(const char *why)
{
	log_info("the adapter is lost: %s", why);
	(void)snprintf(lost_why, sizeof(lost_why), "%s", why);
	loop_timer_set(&lost_timer, LAST_WORDS_MS, on_last_words, NULL);
}

/* Describes the end of the adapter, for people. */
static void
last_words(char *to, size_t size, const struct dbg_end *e)
{
	const char *name = dbg.profile == NULL ? "the adapter" :
	    dbg.profile->name, *said = adapter_complaint();
	char how[64];

	if (lost_why[0] != '\0' && strncmp(lost_why, "it closed", 9) != 0)
		(void)snprintf(to, size, "%s was ended: %s", name, lost_why);
	else {
		if (!e->known)
			(void)snprintf(how, sizeof(how), "has ended");
		else if (e->signal != 0)
			(void)snprintf(how, sizeof(how), "was killed by SIG%s",
			    sigabbrev_np(e->signal) == NULL ? "?" :
			    sigabbrev_np(e->signal));
		else
			(void)snprintf(how, sizeof(how), "exited with %d",
			    e->code);
		(void)snprintf(to, size, "%s %s%s%s", name, how,
		    *said != '\0' ? "; its last words: " : "", said);
	}
}

/* The adapter was there to the last, or is all that has gone. */
static void
set_ending(const struct dbg_end *e, const char *words)
{
	const bool both = !e->program && went_with_it();

	dbg.ending.never = !both && (dbg.phase == PHASE_INITIALIZING ||
	    dbg.phase == PHASE_CONFIGURING);
	if (!e->program) {
		dbg.ending.lives = dbg.attached && !both;
		dbg.ending.adapter_died = !both;
		(void)snprintf(dbg.ending.words, sizeof(dbg.ending.words),
		    "%s", words);
	}
	state_over(&dbg, PHASE_TERMINATED);
}

void
engine_ended(const struct dbg_end *e)
{
	const bool alive = dbg.phase != PHASE_IDLE &&
	    dbg.phase != PHASE_TERMINATED;
	char words[512];

	loop_timer_unset(&lost_timer);
	last_words(words, sizeof(words), e);
	lost_why[0] = '\0';
	if (e->program && dbg.phase != PHASE_IDLE)
		state_known(&dbg, e->code, e->signal);
	if (launch_tree_gone()) {
		adapter_gone("the program is started anew");
		launch_go();
		return;
	}
	if (alive) {
		set_ending(e, words);
		engine_tell_link();
	}
	adapter_gone(words);
	bps_forget();
	if (alive) {
		launch_failed("adapter_exited", words);
		engine_change(CHANGE_ENDED);
	} else
		launch_over();
	if (awaits_end) {
		loop_timer_unset(&farewell_timer);
		on_no_end(NULL);
	}
	exec_tree_gone();
}

/* -- the link -- */
void
engine_init(const struct engine_observer *o)
{
	observer = o;
	debuggee_on_touched(settle_again);
}

void
engine_begin(void)
{
	static const struct adapter_hooks hooks = { on_event, on_lost };

	adapter_init(&hooks,
	    dbg_said.initialize_s == 0 ? 10 : dbg_said.initialize_s,
	    dbg_said.request_s == 0 ? 30 : dbg_said.request_s);
}

void
engine_end(void)
{
	observer->end();
}

void
engine_run_failed(const char *code, const char *why)
{
	(void)launch_tree_gone();
	launch_failed(code, why);
	exec_tree_gone();
}

void
engine_ring(int fd)
{
	ring_close(&dbg.ring);
	if (ring_map(&dbg.ring, fd) == -1)
		log_warn("ring of the program");
	dbg.out_from = dbg.out_to = 0;
	observer->new_output();
}

void
engine_drained(uint64_t total)
{
	dbg.out_to = total;
	if (drains > 0 && --drains == 0)
		finish();
}
