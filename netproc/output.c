/* SPDX-License-Identifier: ISC */
/*
 * OUTPUT and FOLLOW.  The bytes come from the ring that the spawner writes;
 * nothing here makes a program wait.  OUTPUT takes a copy, so that a slow
 * reader gets one consistent answer; FOLLOW reads on as its client does, and
 * a client that is too slow sees the offset jump.
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "conn.h"
#include "output.h"
#include "replica.h"
#include "settings.h"
#include "role.h"

/* One answer holds at least a ring of the usual size. */
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

/* "[<offset>] [base64]" from the third word on.  NULL or what is wrong. */
static const char *
parse_range(const struct words *ws, uint64_t *offset, bool *base64)
{
	size_t n = ws->n;

	*offset = 0;
	*base64 = n > 2 && word_is(&ws->w[n - 1], "base64");
	if (*base64)
		n--;
	if (n > 3)
		return "after the offset only base64 may follow";
	return n == 3 ? number_parse(&ws->w[2], UINT64_MAX, offset) : NULL;
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
	struct output *o = c->u.output;

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
	struct output *o = c->u.output;
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
	size_t want = snapshot_max();

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
	uint64_t offset;
	bool base64;

	if (range_refused(c, parse_range(ws, &offset, &base64)))
		return;
	o = calloc(1, sizeof(*o));
	if (o == NULL) {
		answer_error(c, ERR_INTERNAL, "out of memory");
		return;
	}
	o->base64 = base64;
	o->split = s->view.split;
	o->offset = r == NULL ? 0 : offset;
	conn_enter(c, &mode_output);
	c->u.output = o;
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
	struct follow *f = &c->u.follow;
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
	}
}

static void
follow_final(struct conn *c)
{
	const struct follow f = c->u.follow;
	const struct session_view end = {
		.has_exit_code = f.has_exit_code,
		.exit_code = f.exit_code,
		.signal = f.signal,
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

static void
follow_line(struct conn *c, uint64_t offset, const char *p, size_t n,
    uint64_t total, uint32_t stream)
{
	struct text *t = answer_begin();

	json_open(t, '{');
	json_key(t, "id");
	json_text(t, c->watched->id);
	json_key(t, "output");
	if (c->u.follow.base64) {
		text_puts(t, "\"");
		text_base64(t, p, n);
		text_puts(t, "\"");
	} else
		json_string(t, p, n);
	json_key(t, "offset");
	json_u64(t, offset);
	json_key(t, "total");
	json_u64(t, total);
	if (c->u.follow.base64) {
		json_key(t, "encoding");
		json_text(t, "base64");
	}
	if (stream != 0) {
		json_key(t, "stream");
		json_text(t, stream == 2 ? "err" : "out");
	}
	json_close(t, '}');
	answer_event(c);
}

/* One line of output; false when there is nothing that can be sent yet. */
static bool
follow_piece(struct conn *c, const struct ring *r)
{
	static char bytes[PIECE];
	struct follow *f = &c->u.follow;
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

static bool
follow_step(struct conn *c)
{
	struct follow *f = &c->u.follow;
	struct rsession *s = c->watched;
	const struct ring *r;
	uint64_t total;

	if (s == NULL) {
		conn_enter(c, &mode_line);
		answer_error(c, ERR_NOT_FOUND, "the session was deleted");
		return true;
	}
	follow_changed(c);
	r = f->run != 0 && s->ring_run == f->run ? replica_ring(s) : NULL;
	total = r == NULL ? 0 : ring_total(r);
	if (r != NULL && f->offset < total && follow_piece(c, r))
		return true;
	if (f->ended) {
		follow_final(c);
		return true;
	}
	if (r != NULL)
		replica_arm(s, total);
	return false;
}

static const struct conn_mode mode_follow = {
	.name = "follow",
	.clock = CLOCK_NONE,
	.step = follow_step,
	.changed = follow_changed,
};

void
cmd_follow(struct conn *c, struct rsession *s, const struct words *ws)
{
	uint64_t offset;
	bool base64;

	if (range_refused(c, parse_range(ws, &offset, &base64)))
		return;
	conn_enter(c, &mode_follow);
	c->u.follow.offset = offset;
	c->u.follow.base64 = base64;
	conn_watch(c, s);
}
