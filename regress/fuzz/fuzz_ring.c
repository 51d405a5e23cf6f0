/* SPDX-License-Identifier: ISC */
/* links: tracer/engine/ringread.c common/base/utf8.c */
/* covers: tracer/engine/ringread.c */
/*
 * Fuzz target of the reader of rings.  The input begins with what the reader
 * is told and with what is captured of two functions; the rest is pieces, each
 * a record that is right but for what the input changes in it, or words of the
 * input's own, at a place of its choosing.  Records delivered must lie within
 * bounds, and none may be delivered twice.
 */
#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"

#include "tracer/engine/ringread.h"

#define WORDS	512U	/* a power of two */
#define NOW	1000000ULL
#define STEPS	3

static struct capture programs[4][STEPS + 1];
static struct ring_programs functions[] = {
	{ .enter = programs[0], .leave = programs[1] },
	{ .enter = programs[2], .leave = programs[3] },
	{ .apart = true }
};
static uint64_t	ring[WORDS];
static uint64_t	last_id, tail;
static struct ring_reader *rd;

static const struct ring_programs *
lookup(uint32_t fn, void *arg)
{
	(void)arg;
	return fn < 3 ? &functions[fn] : NULL;
}

static void
record(const struct ring_record *r, void *arg)
{
	const struct ring_programs *p = lookup(r->fn, NULL);
	const uint64_t *now = arg;
	size_t used;

	must(p != NULL && r->tsc <= *now && r->start <= r->tsc);
	must(r->kind == AGENT_ENTER || r->kind == AGENT_EXIT ||
	    (r->kind == RING_CALL && r->end >= r->tsc && r->end <= *now));
	must(r->captures_len <= CAPTURE_BYTES_MAX);
	/* an exit may come without any */
	must(r->captures_len == 0 || captures_valid(r->kind != AGENT_EXIT ?
	    p->enter : p->leave, r->captures, r->captures_len, &used));
	if (r->kind != AGENT_EXIT) {
		must(r->id > last_id && r->link < r->id);
		last_id = r->id;
	}
}

static void
breathe(void *arg)
{
	(void)arg;
	ring_put_aside(rd);
}

static void
take_programs(struct input *in)
{
	struct capture *c;
	size_t i, k;

	memset(programs, 0, sizeof(programs));
	for (i = 0; i < 4; i++)
		for (k = 0; k < STEPS; k++) {
			c = &programs[i][k];
			c->op = (uint8_t)(take_u8(in) % CAP_OPS);
			c->reg = (uint8_t)(take_u8(in) % 16);
			c->len = (uint16_t)(take_u8(in) + 1U);
			c->scale = take_u8(in) % 9;
		}
	/* the other one is looked at step by step */
	functions[0].enters = ring_shape_of(programs[0]);
	functions[0].leaves = ring_shape_of(programs[1]);
}

/* Captures as that function's program makes them, if the input wants so. */
static size_t
put_captures(uint8_t *p, const struct capture *c, struct input *in)
{
	struct captured h;
	uint64_t n;
	size_t at = 0;

	for (; c->op != CAP_END; c++) {
		h.status = (uint16_t)(take_u8(in) % (CAP_STATUSES + 1));
		h.len = take_u8(in);
		if (h.len == 0xff)
			h.len = c->len;
		memcpy(p + at, &h, sizeof(h));
		at += sizeof(h);
		take(in, p + at, h.len);
		n = c->scale == 0 || h.len < 8 ? h.len :
		    (h.len - 8U) / c->scale;
		if (h.len >= sizeof(n) && take_u8(in) % 4 != 0)
			memcpy(p + at, &n, sizeof(n));
		at += captured_size(h.len) - sizeof(h);
	}
	return at;
}

/* The words of a record for that place; how many. */
static size_t
make_record(uint64_t *w, uint64_t at, struct input *in)
{
	struct agent_record h = { 0 };
	uint8_t how = take_u8(in);
	size_t head = how & 16 ? sizeof(h.brief) : sizeof(h), len = 0;
	uint8_t *p = (uint8_t *)w + head;
	uint32_t fn, kind, words;

	h.tsc = take_u16(in);
	fn = take_u8(in) % 4;
	kind = take_u8(in) % 4;
	h.brief.tsc = (uint32_t)h.tsc;
	h.brief.what = fn | kind << WHAT_KIND |
	    (take_u8(in) % 8U) << WHAT_FLAGS;
	h.link = take_u16(in);
	h.start = kind == AGENT_EXIT ? take_u16(in) : 0;
	if ((how & 1) == 0 && fn < 2)
		len = put_captures(p, kind == AGENT_ENTER ?
		    functions[fn].enter : functions[fn].leave, in);
	words = (uint32_t)(head + len + 7) / 8;
	h.brief.commit = (uint32_t)RECORD_ID(at);
	if (how & 2)
		words = take_u16(in);
	if (how & 4)
		h.brief.commit = take_u32(in);
	if (how & 8)
		h.brief.tsc = take_u32(in);
	h.words = words;
	if (how & 16)
		h.brief.what |= (words & BRIEF_WORDS) << WHAT_WORDS;
	memcpy(w, &h, head);
	return (head + len + 7) / 8;
}

static uint64_t
write_some(uint64_t at, struct input *in)
{
	static uint64_t w[256];
	size_t i, n;

	memset(w, 0, sizeof(w));
	if (take_u8(in) % 8 == 7) {
		n = take_u8(in);
		take(in, w, n * 8);
	} else
		n = make_record(w, at, in);
	for (i = 0; i < n; i++)
		ring[(at + i) & (WORDS - 1)] = w[i];
	return at + n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	bool fails = fault_plan(&data, &len);
	struct input in = { data, len };
	uint64_t now = NOW, at = take_u16(&in), before;
	uint8_t how = take_u8(&in);
	struct ring_ops ops = { .lookup = lookup, .record = record,
		.arg = &now, .tail = how & 1 ? &tail : NULL,
		.upto = how & 8 ? now / 2 : 0,
		.breathe = how & 16 ? breathe : NULL };

	fault_begin();
	rd = ring_reader_new(ring, sizeof(ring), at);
	fault_end();
	must(rd != NULL || fails);
	if (rd == NULL)
		return 0;
	memset(ring, 0, sizeof(ring));
	take_programs(&in);
	last_id = 0;
	while (in.left > 0) {
		how = take_u8(&in);
		if (how & 0x40)
			at += how % 32;
		else if (how & 0x20)
			ring_reader_forget(rd);
		at = write_some(at, &in);
		if (how & 0x80)
			continue;
		now += (uint64_t)take_u8(&in) << 24;
		if (how & 0x10)
			ring_put_aside(rd);
		ops.briefly = (how & 8) != 0;
		before = ring_tail(rd);
		must(ring_reader_read(rd, &ops, now, how & 1 ? at :
		    UINT64_MAX, (how & 2) != 0) <= (len + 8) * WORDS);
		must(ring_tail(rd) >= before);
		(void)ring_torn(rd);
		/* more is what one look has left, and it has taken a lap */
		must(!ring_more(rd) || ops.briefly ||
		    ring_tail(rd) - before >= WORDS);
		at = how & 4 ? ring_tail(rd) : at;
	}
	ring_reader_free(rd);
	rd = NULL;
	return 0;
}
