/* SPDX-License-Identifier: ISC */
/* Watchers of the sessions' resource usage, and the usage that is known. */
#include "ask.h"
#include "base/loop.h"
#include "replica.h"
#include "usage.h"
#include "wire/proto.h"

/* Samples come every two seconds: enough for who asks every five. */
#define LOOK_MS		10000

static LIST_HEAD(, usage_watcher) watchers = LIST_HEAD_INITIALIZER(watchers);
static struct loop_timer look_timer;
static bool		 told;		/* the spawner, that somebody looks */

static void
tell(void)
{
	bool on = !LIST_EMPTY(&watchers) || look_timer.slot != 0;
	struct msg_out *o;

	if (on == told || !chan_is_open(&spawner_chan))
		return;
	told = on;
	o = msg_new(MSG_USAGE_WATCH, NULL, 0, 0);
	msg_put_u32(o, on);
	(void)chan_send(&spawner_chan, o, -1);
}

void
usage_begin(struct usage_watcher *w)
{
	LIST_INSERT_HEAD(&watchers, w, next);
	tell();
}

void
usage_end(struct usage_watcher *w)
{
	LIST_REMOVE(w, next);
	tell();
}

static void
on_look_over(void *arg)
{
	(void)arg;
	tell();
}

void
usage_look(void)
{
	loop_timer_set(&look_timer, LOOK_MS, on_look_over, NULL);
	tell();
}

void
usage_lost(void)
{
	told = false;
}

void
usage_again(void)
{
	tell();
}

static void
member(struct text *t, const char *key, bool known, uint64_t v)
{
	json_key(t, key);
	if (known && v != USAGE_UNKNOWN)
		json_u64(t, v);
	else
		json_raw(t, "null");
}

void
usage_json(struct text *t, const struct rsession *s)
{
	bool known = s->usage.known && s->view.state & STATE_ALIVE;

	member(t, "cpu_ns", known, s->usage.cpu_ns);
	member(t, "memory", known, s->usage.memory);
	member(t, "at_ms", known, s->usage.at_ms);
}

int
net_on_usage(struct msg *m)
{
	struct rsession *s = replica_find(&m->hdr.session);
	uint64_t cpu_ns = msg_get_u64(m), memory = msg_get_u64(m);
	struct usage_watcher *w, *next;

	if (msg_end(m) == -1)
		return -1;
	if (s == NULL)
		return 0;
	s->usage.known = true;
	s->usage.at_ms = loop_now_ms();
	s->usage.cpu_ns = cpu_ns;
	s->usage.memory = memory;
	for (w = LIST_FIRST(&watchers); w != NULL; w = next) {
		next = LIST_NEXT(w, next);
		w->fn(s, w->arg);
	}
	return 0;
}
