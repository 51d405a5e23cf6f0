/* SPDX-License-Identifier: ISC */
/*
 * Output as octets, or as a recording.  It is read from the ring as the
 * client reads it, so a large ring takes no memory here; an answer whose
 * bytes are overwritten before they were sent breaks off.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/output.h"
#include "netproc/conn/replica.h"
#include "weboutput.h"

#define PIECE	((size_t)16 * 1024)

struct range {
	uint64_t	 offset, tail;
	bool		 has_tail, json;
};

/* "offset=5" into its place; NULL or what is wrong. */
static const char *
range_word(const struct word *w, struct range *g)
{
	static const char offset[] = "offset=", tail[] = "tail=";
	struct word v = { w->p + sizeof(offset) - 1,
	    w->len - (sizeof(offset) - 1) };

	if (word_is(w, "format=json")) {
		g->json = true;
		return NULL;
	}
	if (word_is(w, "format=raw"))
		return NULL;
	if (w->len > sizeof(offset) - 1 &&
	    memcmp(w->p, offset, sizeof(offset) - 1) == 0)
		return number_parse(&v, UINT64_MAX, &g->offset);
	v = (struct word){ w->p + sizeof(tail) - 1,
	    w->len - (sizeof(tail) - 1) };
	if (w->len > sizeof(tail) - 1 &&
	    memcmp(w->p, tail, sizeof(tail) - 1) == 0) {
		g->has_tail = true;
		return number_parse(&v, UINT64_MAX, &g->tail);
	}
	return "is not raw or json";
}

static const char *
parse(const struct words *ws, struct range *g)
{
	const char *why = NULL;
	size_t i;

	memset(g, 0, sizeof(*g));
	for (i = 2; why == NULL && i < ws->n; i++)
		why = range_word(&ws->w[i], g);
	return why;
}

static void
header_u64(struct conn *c, const char *name, uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	c->port->header(c, name, text);
}

static uint64_t
begins_at(const struct range *g, uint64_t total)
{
	uint64_t at = g->offset < total ? g->offset : total;

	return g->has_tail && total - at > g->tail ? total - g->tail : at;
}

static uint64_t
total_of(struct rsession *s)
{
	const struct ring *r = replica_ring(s);

	return r == NULL ? 0 : ring_total(r);
}

/* Where to begin, and how far there is something. */
static void
begin(struct conn *c, struct rsession *s, const struct range *g)
{
	const struct ring *r = replica_ring(s);
	uint64_t total = total_of(s), at = begins_at(g, total);
	char byte;

	/* what has gone already is not waited for */
	if (r != NULL)
		(void)ring_read(r, &at, &byte, 1);
	if (at > total)
		at = total;
	follow_state(c)->offset = at;
	follow_state(c)->total = total;
	follow_state(c)->run = s->ring_run;
	conn_watch(c, s);
	header_u64(c, "X-Offset", at);
	header_u64(c, "X-Total", total);
	c->port->answer(c, ERR_OK);
}

/* The next bytes of the answer; 0 = there are none, *lost = not any more. */
static size_t
next_bytes(struct conn *c, char *buf, bool *lost)
{
	struct follow *f = follow_state(c);
	struct rsession *s = c->watched;
	uint64_t at = f->offset, left = f->total - f->offset;
	size_t n;

	if (left == 0)
		return 0;
	*lost = s == NULL || s->ring_run != f->run;
	if (*lost)
		return 0;
	n = ring_read(&s->ring, &at, buf, left < PIECE ? (size_t)left : PIECE);
	*lost = at != f->offset || n == 0;
	return *lost ? 0 : n;
}

static bool
finish(struct conn *c, bool lost)
{
	c->dead = lost;
	conn_enter(c, &mode_line);
	if (!lost)
		c->port->answered(c);
	return !lost;
}

static bool
raw_step(struct conn *c)
{
	static char buf[PIECE];
	bool lost = false;
	size_t n = next_bytes(c, buf, &lost);

	if (n == 0)
		return finish(c, lost);
	conn_write(c, buf, n);
	follow_state(c)->offset += n;
	return true;
}

static bool
cast_step(struct conn *c)
{
	static char buf[PIECE];
	bool lost = false;
	size_t n = next_bytes(c, buf, &lost), cut;
	struct text *t;

	if (n == 0)
		return finish(c, lost);
	/* half a character is the beginning of the next event */
	cut = follow_state(c)->offset + n < follow_state(c)->total ?
	    utf8_unfinished(buf, n) : 0;
	if (cut < n)
		n -= cut;
	t = answer_begin();
	json_open(t, '[');
	json_raw(t, "0.0");
	json_text(t, "o");
	json_string(t, buf, n);
	json_close(t, ']');
	text_puts(t, "\n");
	answer_piece(c);
	follow_state(c)->offset += n;
	return true;
}

static const struct conn_mode mode_raw = {
	.name = "raw output",
	.clock = CLOCK_IDLE,
	.step = raw_step,
};

static const struct conn_mode mode_cast = {
	.name = "recording",
	.clock = CLOCK_IDLE,
	.step = cast_step,
};

void
cmd_output_raw(struct conn *c, struct rsession *s, const struct words *ws)
{
	struct words as_json = { .n = 3, .end = ws->end };
	char offset[24];
	struct range g;
	const char *why = parse(ws, &g);

	if (why != NULL) {
		answer_errorf(c, ERR_INVALID_ARGUMENT, "offset, tail and "
		    "format: what is given for one of them %s", why);
		return;
	}
	if (g.json) {
		(void)snprintf(offset, sizeof(offset), "%" PRIu64,
		    g.has_tail ? begins_at(&g, total_of(s)) : g.offset);
		as_json.w[0] = ws->w[0];
		as_json.w[1] = ws->w[1];
		as_json.w[2] = (struct word){ offset, strlen(offset) };
		c->port->enveloped(c);
		cmd_output(c, s, &as_json);
		return;
	}
	conn_enter(c, &mode_raw);
	begin(c, s, &g);
}

void
cmd_output_cast(struct conn *c, struct rsession *s, const struct words *ws)
{
	const struct range g = { .offset = 0 };
	char head[160];

	(void)ws;
	(void)snprintf(head, sizeof(head), "{\"version\":2,\"width\":%u,"
	    "\"height\":%u,\"timestamp\":%" PRId64 "}\n",
	    s->view.cols == 0 ? 80 : s->view.cols,
	    s->view.rows == 0 ? 24 : s->view.rows,
	    s->view.started_ns / 1000000000);
	conn_enter(c, &mode_cast);
	begin(c, s, &g);
	conn_write(c, head, strlen(head));
}
