/* SPDX-License-Identifier: ISC */
/* Input of the timeline, and the times at which it is read. */
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "timefiles.h"
#include "timeline.h"
#include "tracer/binary/fn.h"
#include "tracer/engine/clock.h"
#include "tracer/session/session.h"
#include "user_limit.h"
#include "writes.h"

/*
 * Between two looks at rings.  Each wakes a processor, and at its fastest a
 * thread takes some 30 ms to fill a ring.
 */
#define LOOK_MS		4
#define SOON_MS		1	/* so many at the last look: more have come */
#define MANY		20000U
#define FLUSH_NS	250000000ULL
#define AHEAD_NS 1000000000ULL /* of calls that begin while it is read */

static struct store	*st;
static struct feed	*feed;
static struct loop_timer timer;
static struct store_files files = STORE_FILES_INIT;
static uint64_t last_flush, grown, settled;
static size_t latest;	/* records that the last look has found */
/* All that comes before a moment; it may take several looks. */
static struct {
	uint64_t now;
	uint64_t end;	/* of the output */
	bool	 going;
} sweep;
static bool		 dirty, busy;
static uint64_t		 last_relax;
static bool		 relaxing;	/* a storm's memory is going back */

struct store *
timeline_store(void)
{
	return st;
}

bool
timeline_is_busy(void)
{
	return busy;
}

uint64_t
timeline_grown(void)
{
	return grown;
}

void
timeline_told(void)
{
	dirty = true;
	grown++;
	timeline_pace(false);
}

/* -- reading -------------------------------------------------------------- */

static void
on_record(struct target *t, const struct trace_record *r, void *arg)
{
	(void)t;
	(void)feed_record(feed, r, *(uint64_t *)arg);
}

/* Whether there is more to read. */
static bool
read_process(struct process *p, bool briefly)
{
	uint64_t most = clock_ns() + AHEAD_NS;
	size_t n;

	if (st == NULL || p->target == NULL ||
	    (n = target_read(p->target, briefly, on_record, &most)) == 0)
		return false;
	latest += n;
	dirty = true;
	grown++;
	return target_more(p->target);
}

void
timeline_read_one(struct process *p)
{
	target_moment();
	(void)read_process(p, false);
}

static void
relax(uint64_t now)
{
	if (now - last_relax < FLUSH_NS)
		return;
	last_relax = now;
	relaxing = target_relax();
}

static void
flush(uint64_t now)
{
	relax(now);
	if (!dirty || now - last_flush < FLUSH_NS)
		return;
	last_flush = now;
	dirty = false;
	(void)store_flush(st);
	user_limit_look();
}

/* Nothing that comes later is older than that. */
static void
settle(uint64_t now)
{
	uint64_t awaited = writes_awaited(now);

	if (awaited <= now)
		now = awaited - 1;
	if (now > settled)
		settled = now;
	store_settled(st, settled);
}

static void
sweep_begin(void)
{
	sweep.end = output_end();
	/* nothing that is stored is later than what is settled then: it may be
	 * all that room is left for */
	target_moment();
	sweep.now = clock_ns();
}

static void
look(bool briefly)
{
	struct process *p;
	bool more = false;

	if (st == NULL)
		return;
	if (!briefly || !sweep.going)
		sweep_begin();
	latest = 0;
	TAILQ_FOREACH(p, &processes, entry)
		more = read_process(p, briefly) || more;
	sweep.going = briefly && more;
	if (!sweep.going) {
		/* the writer of the output is known by now */
		output_put(sweep.end, sweep.now, settled);
		settle(sweep.now);
	}
	flush(clock_ns());
}

void
timeline_read(void)
{
	look(false);
}

uint64_t
timeline_settled(void)
{
	return settled;
}

static void
on_timer(void *arg)
{
	(void)arg;
	/* others are served between the parts of what is very much */
	look(true);
	timeline_pace(false);
}

static bool
has_probes(void)
{
	const struct process *p;

	TAILQ_FOREACH(p, &processes, entry)
		if (p->non > 0)
			return true;
	return false;
}

void
timeline_pace(bool is_new)
{
	if (has_probes()) {
		/* what happens often must not put it off for ever */
		if (is_new || timer.slot == 0)
			loop_timer_set(&timer, sweep.going ? 0 : is_new ||
			    latest > MANY ? SOON_MS : LOOK_MS, on_timer, NULL);
	} else if (dirty || relaxing)
		loop_timer_set(&timer, FLUSH_NS / 1000000, on_timer, NULL);
	else
		loop_timer_unset(&timer);
}

/* A question takes long: rings go on being read, and faults being mended. */
static void
tick(void *arg)
{
	(void)arg;
	target_events();
	look(true);
}

static void	(*no_longer_busy)(void);

void
timeline_when_idle(void (*fn)(void))
{
	no_longer_busy = fn;
}

void
timeline_busy(bool yes)
{
	busy = yes;
	if (!yes)
		no_longer_busy();
}

/* -- events --------------------------------------------------------------- */

void
timeline_event(struct process *p, const struct target_event *e)
{
	(void)p;
	if (feed == NULL)
		return;
	feed_event(feed, e);
	dirty = true;
	grown++;
}

void
timeline_write(const struct target_write *w)
{
	struct write_seen s = {
	    .ts = w->ts, .len = w->len, .fd = w->fd, .tid = (uint32_t)w->tid};
	const char *name;

	if (feed == NULL)
		return;
	s.parent = feed_call(feed, s.tid, w->parent);
	name = store_thread_name(st, s.tid);
	(void)snprintf(s.name, sizeof(s.name), "%s", name);
	s.nhead = w->nbytes < sizeof(s.head) ? w->nbytes : sizeof(s.head);
	if (s.nhead > 0)
		memcpy(s.head, w->bytes, s.nhead);
	writes_seen(&s);
}

void
timeline_forked(struct process *p)
{
	/* its only thread has its parent's name */
	if (st != NULL)
		store_thread(st, (uint32_t)p->pid, "");
}

/* -- opening and closing -------------------------------------------------- */

static const struct trc_hello *hello;
static struct store_meta meta;
static bool		 is_new;
static uint64_t		 calls_most;	/* bytes, whatever room there is */
static void		(*done)(const char *);

static void
open_store(void)
{
	struct store_limits limits = STORE_LIMITS_DEFAULT;
	static char why[STORE_WHY];

	if (hello->calls_bytes != 0)
		limits.calls = hello->calls_bytes;
	if (hello->output_bytes != 0)
		limits.output = hello->output_bytes;
	calls_most = limits.calls;
	st = store_open(&files, is_new ? &meta : NULL, &limits, why);
	files = (struct store_files)STORE_FILES_INIT;
	if (st != NULL) {
		store_set_render(st, &fn_render);
		store_set_inverse(st, fn_inverse, NULL);
		store_set_tick(st, tick, NULL);
		feed = feed_new(st);
		if (feed == NULL)
			(void)strcpy(why, "no memory");
		else
			feed_set_place(feed, process_place, NULL);
	}
	done(feed == NULL ? why : NULL);
}

void
timeline_file(enum trc_file which, int fd)
{
	int *const fds[] = { &files.calls_fd, &files.db_fd, &files.wal_fd };
	int i;

	/* who wanted them may have been stopped meanwhile */
	if (done == NULL || st != NULL) {
		close(fd);
		return;
	}
	if (*fds[which] != -1)
		close(*fds[which]);
	*fds[which] = fd;
	for (i = 0; i < TRC_FILES; i++)
		if (*fds[i] == -1)
			return;
	open_store();
}

static void
make_files(const char *why)
{
	if (why != NULL)
		done(why);
	else if (timefiles_make(hello, &files) == 0) {
		link_named(timefiles_name());
		open_store();
	} else
		link_want_files();
}

void
timeline_make(const struct trc_hello *h, const struct store_meta *m,
    void (*fn)(const char *))
{
	hello = h;
	meta = *m;
	done = fn;
	is_new = true;
	user_limit_begin(h, timeline_limit);
	user_limit_ask(make_files);
}

void
timeline_limit(uint64_t calls)
{
	struct store_stats s;

	if (st == NULL)
		return;
	if (calls < STORE_CALLS_LEAST)
		calls = STORE_CALLS_LEAST;
	store_share(st, calls < calls_most);
	if (calls > calls_most)
		calls = calls_most;
	store_limit(st, calls);
	store_stats(st, &s);
	if (s.bytes <= calls)
		return;
	/* it goes with the next flush */
	dirty = true;
	timeline_pace(false);
}

void
timeline_resume(const struct trc_hello *h, void (*fn)(const char *))
{
	hello = h;
	done = fn;
	is_new = false;
	user_limit_begin(h, timeline_limit);
	/* else they are in memory, and on their way */
	if (h->nfiles == 0 && timefiles_find(h, &files) == 0)
		open_store();
	else if (h->nfiles == 0)
		fn("there is nothing of its timeline");
}

const char *
timeline_path(void)
{
	return timefiles_path();
}

/* Closes the files that have come so far, and cancels their callback. */
static void
forget_files(void)
{
	const int fds[] = { files.calls_fd, files.db_fd, files.wal_fd };
	int i;

	for (i = 0; i < TRC_FILES; i++)
		if (fds[i] != -1)
			close(fds[i]);
	files = (struct store_files)STORE_FILES_INIT;
	done = NULL;
	user_limit_cancel();
}

void
timeline_close(bool keep)
{
	forget_files();
	writes_forget();
	settled = 0;
	sweep.going = false;
	loop_timer_unset(&timer);
	feed_free(feed);
	feed = NULL;
	/* first of all: what is kept must not go with the session */
	if (timefiles_name() != NULL)
		link_named("");
	if (st != NULL)
		store_close(st, keep);
	st = NULL;
	if (!keep)
		timefiles_remove();
}
