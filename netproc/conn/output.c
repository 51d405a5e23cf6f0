/* SPDX-License-Identifier: ISC */
/*
 * OUTPUT and FOLLOW.  The bytes come from the ring that the spawner writes.
 * OUTPUT takes a copy, so that a slow reader gets one consistent answer;
 * FOLLOW reads on as its client does, and a client that is too slow sees the
 * offset jump, unless it holds the program.
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/utf8.h"
#include "conn.h"
#include "hold.h"
#include "netproc/text/text64.h"
#include "output.h"
#include "replica.h"
#include "wire/role.h"
#include "wire/settings.h"

/* An answer has space for at least a ring of the usual size. */
#define SNAPSHOT_MIN	((size_t)256 * 1024)
/* A multiple of 3, so that base64 pieces join without padding. */
#define PIECE		((size_t)12 * 1024)

struct output {
	char			*bytes;
	size_t			 len, pos;
	uint64_t		 offset, total;
	bool			 base64, split;
	struct ring_mark	*marks;
	size_t			 nmarks;
};

static struct output **
output_state(struct conn *c)
{
	return conn_state(c, struct output *);
}

/* Arguments behind the session's id. */
struct range {
	uint64_t	 offset;
	bool		 base64, hold;
};

/*
 * "[<offset>] [base64] [hold]" from the third word on, without the last where
 * that is not offered.  NULL or what is wrong.
 */
static const char *
parse_range(const struct words *ws, bool holds, struct range *g)
{
	size_t n = ws->n;

	*g = (struct range){ .offset = 0 };
	g->hold = holds && n > 2 && word_is(&ws->w[n - 1], "hold");
	if (g->hold)
		n--;
	g->base64 = n > 2 && word_is(&ws->w[n - 1], "base64");
	if (g->base64)
		n--;
	if (n > 3)
		return holds ? "may be followed by base64 and hold only" :
		    "may be followed by base64 only";
	return n == 3 ? number_parse(&ws->w[2], UINT64_MAX, &g->offset) : NULL;
}

static bool
range_refused(struct conn *c, const char *why)
{
	if (why != NULL)
		answer_errorf(c, ERR_INVALID_ARGUMENT, "the offset %s", why);
	return why != NULL;
}

/* -- OUTPUT --------------------------------------------------------------- */

static void
output_leave(struct conn *c)
{
	struct output *o = *output_state(c);

	if (o == NULL)
		return;
	free(o->bytes);
	free(o->marks);
	free(o);
}

static void
chunks_json(struct text *t, const struct output *o)
{
	uint64_t at;
	size_t i;

	json_key(t, "chunks");
	json_open(t, '[');
	for (i = 0; i < o->nmarks; i++) {
		at = o->marks[i].offset;
		json_open(t, '[');
		json_u64(t, at < o->offset ? o->offset : at);
		json_text(t, o->marks[i].stream == 2 ? "err" : "out");
		json_close(t, ']');
	}
	json_close(t, ']');
}

static void
output_tail(struct conn *c, const struct output *o)
{
	struct text *t = answer_begin();

	/* the string that output_head() began */
	text_puts(t, "\"");
	json_key(t, "offset");
	json_u64(t, o->offset);
	json_key(t, "total");
	json_u64(t, o->total);
	if (o->base64) {
		json_key(t, "encoding");
		json_text(t, "base64");
	}
	if (o->split)
		chunks_json(t, o);
	/* text does not say how many bytes it stands for */
	if (o->offset + o->len < o->total) {
		json_key(t, "next");
		json_u64(t, o->offset + o->len);
	}
	json_close(t, '}');
	answer_piece(c);
	answer_close(c);
}

static void
output_head(struct conn *c, const char *id)
{
	struct text *t = answer_begin();

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, id);
	json_key(t, "output");
	text_puts(t, "\"");
	answer_open(c);
	answer_piece(c);
}

static bool
output_step(struct conn *c)
{
	struct output *o = *output_state(c);
	size_t n = o->len - o->pos < PIECE ? o->len - o->pos : PIECE;
	struct text *t;

	if (n == 0) {
		output_tail(c, o);
		conn_enter(c, &mode_line);
		return true;
	}
	t = answer_begin();
	if (o->base64)
		text_base64(t, o->bytes + o->pos, n);
	else
		n = json_escape(t, o->bytes + o->pos, n, o->pos + n < o->len);
	answer_piece(c);
	o->pos += n;
	return true;
}

static const struct conn_mode mode_output = {
	.name = "output",
	.clock = CLOCK_IDLE,
	.step = output_step,
	.leave = output_leave,
};

static size_t
snapshot_max(void)
{
	return settings.connection_memory < SNAPSHOT_MIN ? SNAPSHOT_MIN :
	    (size_t)settings.connection_memory;
}

/* Copies what is asked for out of the ring; -1 without memory. */
static int
snapshot(struct output *o, const struct ring *r)
{
	size_t want = snapshot_max(), cut;

	o->total = ring_total(r);
	if (o->offset > o->total)
		o->offset = o->total;
	if (want > o->total - o->offset)
		want = (size_t)(o->total - o->offset);
	if (want > r->size)
		want = r->size;
	o->bytes = malloc(want + 1);
	if (o->bytes == NULL)
		return -1;
	o->len = ring_read(r, &o->offset, o->bytes, want);
	/* the writer may have overtaken: then they are newer than the total */
	if (o->offset + o->len > o->total)
		o->total = o->offset + o->len;
	cut = o->base64 || o->offset + o->len == o->total ? 0 :
	    utf8_unfinished(o->bytes, o->len);
	if (cut < o->len)
		o->len -= cut;
	if (!o->split)
		return 0;
	o->marks = calloc(RING_MARKS, sizeof(*o->marks));
	if (o->marks == NULL)
		return -1;
	o->nmarks = ring_marks(r, o->offset, o->offset + o->len, o->marks,
	    RING_MARKS);
	return 0;
}

void
cmd_output(struct conn *c, struct rsession *s, const struct words *ws)
{
	const struct ring *r = replica_ring(s);
	struct output *o;
	struct range g;

	if (range_refused(c, parse_range(ws, false, &g)))
		return;
	o = calloc(1, sizeof(*o));
	if (o == NULL) {
		answer_error(c, ERR_INTERNAL, "out of memory");
		return;
	}
	o->base64 = g.base64;
	o->split = s->view.split;
	o->offset = r == NULL ? 0 : g.offset;
	conn_enter(c, &mode_output);
	*output_state(c) = o;
	if (r != NULL && snapshot(o, r) == -1) {
		conn_enter(c, &mode_line);
		answer_error(c, ERR_INTERNAL, "out of memory");
		return;
	}
	output_head(c, s->id);
}

/* -- FOLLOW --------------------------------------------------------------- */

/* Notes which run is followed, and how it ended: the next may come soon. */
static void
follow_changed(struct conn *c)
{
	struct follow *f = follow_state(c);
	const struct rsession *s = c->watched;

	if (s == NULL || f->ended || s->view.state == STATE_LOADED)
		return;
	if (f->run == 0)
		f->run = s->view.run;
	if (s->view.state != STATE_STOPPED && s->view.run == f->run)
		return;
	f->ended = true;
	f->total = s->ring_run == f->run ? ring_total(&s->ring) : f->offset;
	if (s->view.run == f->run) {
		f->has_exit_code = s->view.has_exit_code;
		f->exit_code = s->view.exit_code;
		f->signal = s->view.signal;
		f->out_of_memory = s->view.out_of_memory;
	}
}

static void
follow_final(struct conn *c)
{
	const struct follow f = *follow_state(c);
	const struct session_view end = {
		.has_exit_code = f.has_exit_code,
		.exit_code = f.exit_code,
		.signal = f.signal,
		.out_of_memory = f.out_of_memory,
	};
	struct text *t = answer_begin();

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, c->watched->id);
	json_key(t, "state");
	json_text(t, state_text(STATE_STOPPED));
	end_json(t, &end);
	json_key(t, "offset");
	json_u64(t, f.total);
	json_key(t, "total");
	json_u64(t, f.total);
	json_key(t, "final");
	json_raw(t, "true");
	json_close(t, '}');
	answer_end(c);
	conn_enter(c, &mode_line);
}

static const char *
stream_name(const struct conn *c, uint32_t stream)
{
	if (c->port != NULL)
		return stream == 2 ? "stderr" : "stdout";
	return stream == 2 ? "err" : "out";
}

/* The beginning of a line about n bytes of output. */
static struct text *
follow_open(struct conn *c, uint64_t offset, const char *p, size_t n,
    uint64_t total)
{
	struct text *t = answer_begin();

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, c->watched->id);
	json_key(t, c->port != NULL ? "data" : "output");
	if (follow_state(c)->base64) {
		text_puts(t, "\"");
		text_base64(t, p, n);
		text_puts(t, "\"");
	} else
		json_string(t, p, n);
	json_key(t, "offset");
	json_u64(t, offset);
	json_key(t, "total");
	json_u64(t, total);
	if (follow_state(c)->base64) {
		json_key(t, "encoding");
		json_text(t, "base64");
	} else if (!utf8_valid(p, n)) {
		/* U+FFFD does not say how many bytes it stands for */
		json_key(t, "next");
		json_u64(t, offset + n);
	}
	return t;
}

static void
follow_line(struct conn *c, uint64_t offset, const char *p, size_t n,
    uint64_t total, uint32_t stream)
{
	struct text *t = follow_open(c, offset, p, n, total);

	if (stream != 0) {
		json_key(t, "stream");
		json_text(t, stream_name(c, stream));
	}
	json_close(t, '}');
	answer_event(c, offset + n);
}

/* Sends a line of output; false when nothing can be sent yet. */
static bool
follow_piece(struct conn *c, const struct ring *r)
{
	static char bytes[PIECE];
	struct follow *f = follow_state(c);
	uint64_t offset = f->offset, end = 0;
	uint32_t stream = 0;
	size_t n = ring_read(r, &offset, bytes, sizeof(bytes)), cut;
	uint64_t total = ring_total(r);

	if (c->watched->view.split) {
		stream = ring_stream(r, offset, &end);
		if (end > offset && n > end - offset)
			n = (size_t)(end - offset);
	}
	/* the rest of a character that is being written will follow */
	cut = f->base64 || (f->ended && offset + n >= total) ||
	    (end != 0 && end < total && offset + n == end) ? 0 :
	    utf8_unfinished(bytes, n);
	n -= cut;
	f->offset = offset;
	if (n == 0)
		return false;
	follow_line(c, offset, bytes, n, total, stream);
	f->offset += n;
	return true;
}

/* Whether it may not hold the session, or not any more. */
static bool
follow_refused(struct conn *c)
{
	const char *why = NULL;
	uint32_t err = follow_state(c)->hold.on ? hold_refused(c, &why) :
	    ERR_OK;

	if (err == ERR_OK)
		return false;
	conn_enter(c, &mode_line);
	answer_error(c, err, why);
	return true;
}

/* Tells the spawner now and then how far a follower with hold has got. */
static void
follow_moved(struct conn *c, const struct ring *r)
{
	struct follow *f = follow_state(c);
	uint64_t taken;

	if (!f->hold.on)
		return;
	taken = hold_taken(f->offset, conn_unsent(c), PIECE);
	if (hold_is_news(&f->hold, r, taken))
		hold_tell(c, &f->hold, f->run, taken);
}

/* All up to total has been said: it should be on its way. */
static void
follow_rests(struct conn *c, const struct ring *r, uint64_t total)
{
	if (follow_state(c)->hold.on)
		conn_flush(c);
	follow_moved(c, r);
	replica_arm(c->watched, total);
}

static bool
follow_step(struct conn *c)
{
	struct follow *f = follow_state(c);
	struct rsession *s = c->watched;
	const struct ring *r;
	uint64_t total;

	if (s == NULL) {
		conn_enter(c, &mode_line);
		answer_error(c, ERR_NOT_FOUND, "the session was deleted");
		return true;
	}
	follow_changed(c);
	if (follow_refused(c))
		return true;
	r = f->run != 0 && s->ring_run == f->run ? replica_ring(s) : NULL;
	total = r == NULL ? 0 : ring_total(r);
	if (r != NULL && f->offset < total && follow_piece(c, r)) {
		follow_moved(c, r);
		return true;
	}
	if (f->ended) {
		follow_final(c);
		return true;
	}
	if (r != NULL)
		follow_rests(c, r, total);
	return false;
}

static void
follow_leave(struct conn *c)
{
	struct follow *f = follow_state(c);

	if (f->hold.on && !f->ended && c->watched != NULL)
		hold_tell(c, &f->hold, f->run, FLOW_UNLIMITED);
}

static const struct conn_mode mode_follow = {
	.name = "follow",
	.clock = CLOCK_NONE,
	.step = follow_step,
	.changed = follow_changed,
	.leave = follow_leave,
};

/* Its first line: no program that starts after it runs ahead. */
static void
follow_hold(struct conn *c)
{
	struct follow *f = follow_state(c);
	const struct ring *r = replica_ring(c->watched);
	struct text *t;

	f->hold.on = true;
	if (follow_refused(c))
		return;
	follow_changed(c);
	if (!f->ended)
		hold_tell(c, &f->hold, f->run, f->offset);
	t = follow_open(c, f->offset, "", 0, r == NULL ? 0 : ring_total(r));
	json_key(t, "held");
	json_raw(t, "true");
	json_close(t, '}');
	answer_event(c, f->offset);
}

void
cmd_follow(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct range g;

	if (range_refused(c, parse_range(ws, true, &g)))
		return;
	conn_enter(c, &mode_follow);
	follow_state(c)->offset = g.offset;
	follow_state(c)->base64 = g.base64;
	conn_watch(c, s);
	if (g.hold)
		follow_hold(c);
}
