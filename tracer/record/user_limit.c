/* SPDX-License-Identifier: ISC */
/*
 * Space that one owner's timelines take.  Timelines in files are counted here,
 * as only processes of their owner can see them; those in memory are counted by
 * the spawner, which has made them.  Each timeline that is being written looks
 * now and then, and may use for its calls what the others have left.
 */
#include "base/loop.h"
#include "timefiles.h"
#include "timeline/store/store.h"
#include "timeused.h"
#include "tracer/base/link.h"
#include "user_limit.h"

#define LOOK_MS		1000	/* between two looks */

static const struct trc_hello *hello;
static void		(*waiting)(const char *);
static void		(*limit)(uint64_t calls);
static bool		 asked;
static uint64_t		 last_ms;

void
user_limit_begin(const struct trc_hello *h, void (*fn)(uint64_t))
{
	hello = h;
	limit = fn;
}

static bool
is_bounded(void)
{
	return hello != NULL && hello->user_bytes != 0;
}

void
user_limit_ask(void (*fn)(const char *))
{
	if (!is_bounded()) {
		fn(NULL);
		return;
	}
	waiting = fn;
	link_want_used();
}

void
user_limit_cancel(void)
{
	waiting = NULL;
}

void
user_limit_look(void)
{
	uint64_t now = loop_now_ms();

	if (!is_bounded() || asked || now - last_ms < LOOK_MS)
		return;
	asked = true;
	last_ms = now;
	link_want_used();
}

/* Why there is no room, with what takes it by name. */
static void
say_full(struct text *t, uint64_t used, uint64_t in_memory)
{
	int dir_fd = timefiles_dir(hello);

	text_puts(t, "the timelines of this user have ");
	timeused_size(t, used);
	text_puts(t, " of the ");
	timeused_size(t, hello->user_bytes);
	text_puts(t, " that they may have together (tracer user-timeline)");
	if (used > in_memory) {
		text_puts(t, "; the largest: ");
		timeused_largest(dir_fd, t);
	}
	if (in_memory > 0) {
		text_puts(t, "; in memory, of sessions: ");
		timeused_size(t, in_memory);
	}
}

static void
answer_ask(uint64_t used, uint64_t in_memory)
{
	void (*fn)(const char *) = waiting;
	struct text t = { .max = 4096 };

	waiting = NULL;
	if (used + STORE_CALLS_LEAST <= hello->user_bytes) {
		fn(NULL);
		return;
	}
	say_full(&t, used, in_memory);
	fn(t.p == NULL ? "there is no room for a timeline" : t.p);
	text_free(&t);
}

void
trc_used(uint64_t in_memory)
{
	uint64_t used = in_memory + timeused_bytes(timefiles_dir(hello),
	    timefiles_name());

	asked = false;
	if (waiting != NULL)
		answer_ask(used, in_memory);
	else
		limit(hello->user_bytes > used ? hello->user_bytes -
		    used : 0);
}
