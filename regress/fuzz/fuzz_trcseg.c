/* SPDX-License-Identifier: ISC */
/* links: common/base/log.c timeline/store/ common/base/json.c common/base/text.c timeline/query/ common/base/utf8.c */
/* covers: timeline/store/pack.c timeline/store/segment.c timeline/store/store_recover.c timeline/store/store_chunk.c timeline/query/query_cursor.c */
/*
 * Fuzz target of the timeline's reader: whatever the file of calls holds,
 * opening it and asking is safe, and what is shown is in order.  Checks are
 * made right, so that what is behind them is reached.  An input that begins
 * with E is calls instead: they are written, perhaps damaged, and read again.
 */
#include <sys/mman.h>

#include <stdio.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "timeline/query/query_int.h"
#include "wire/capture.h"

#define TAG	7
#define OPS_MAX	300		/* of one input */
#define FNS	16
#define BIG_MAX		200		/* large ones in a row */

/* A timeline without calls: made once, as a database takes its time. */
static struct store *
base(void)
{
	const struct store_meta meta = { .id = "fuzz", .status = "running" };
	const struct store_limits limits = STORE_LIMITS_DEFAULT;
	struct store_function f = { .fn = 1, .ret_type = "int" };
	struct store_files files;
	static struct store *st;
	char why[STORE_WHY], name[16];

	if (st != NULL)
		return st;
	quiet();
	files.calls_fd = memfd_create("c", MFD_CLOEXEC);
	files.db_fd = memfd_create("d", MFD_CLOEXEC);
	files.wal_fd = memfd_create("w", MFD_CLOEXEC);
	if ((st = store_open(&files, &meta, &limits, why)) == NULL)
		abort();
	for (f.name = name; f.fn < FNS; f.fn++) {
		snprintf(name, sizeof(name), "f%u", f.fn);
		store_function(st, &f);
	}
	must(store_flush(st) == 0);
	st->tag = TAG;
	return st;
}

/* Copies base() for an input; forget() frees the copy. */
static struct store
copy(void)
{
	struct store st = *base();
	uint32_t fn;

	memset(&st.counters, 0, sizeof(st.counters));
	for (fn = 1; fn < FNS; fn++)
		must(counters_reserve(&st.counters, fn) == 0);
	return st;
}

/* Frees what an input has added to its copy. */
static void
forget(struct store *st)
{
	struct buffer *b;

	while ((b = st->first_buffer != NULL ? st->first_buffer : st->spare) !=
	    NULL) {
		*(b == st->first_buffer ? &st->first_buffer : &st->spare) =
		    b->next;
		free(b);
	}
	threads_free(st);
	counters_free(&st->counters);
	free(st->free_slots);
}

/* Headers and records get right checks if a bit of the input says so. */
static void
mend(uint8_t *seg, size_t len, const uint8_t *how, size_t nhow)
{
	static const struct seg_first first = { 0, 1 };
	struct seg_head h;
	struct rec_head r;
	bool brief;
	struct rec both[2];
	uint32_t at = SEG_HEAD, n = 0;
	int32_t size;

	if (len < SEG_HEAD)
		return;
	memcpy(&h, seg, sizeof(h));
	h.tag = TAG;
	h.ord = h.ord % 3 + 1;
	h.bytes = (uint32_t)(len - SEG_HEAD) & ~(SEG_UNIT - 1);
	h.count %= 2 * (h.bytes / REC_BRIEF) + 1;
	h.nsums %= h.count + 1;
	h.nothers %= h.nsums + 1;
	h.nkeys %= h.count + 1;
	seg_head_seal(&h);
	memcpy(seg, &h, sizeof(h));
	for (; at + REC_HEAD <= len && n < nhow * 8; n++) {
		memcpy(&r, seg + at, sizeof(r));
		/* short ones, of functions that have names to be few */
		brief = r.what >> 63 != 0;
		r.when &= brief ? UINT64_C(0x00ff00ff0000ffff) :
		    UINT64_C(0x00ff00000000ffff);
		r.what &= ~(UINT64_C(3) << 61 | UINT64_C(0xfff00));
		if (!brief)
			r.what &= ~(UINT64_C(0x7f80) << 31 |
			    UINT64_C(0x7f80) << 46);
		if ((r.what >> 20 & 3) == REC_ENTER)
			r.what |= UINT64_C(0x21) << 25;
		memcpy(seg + at, &r, sizeof(r));
		if ((how[n / 8] >> n % 8 & 1) == 0 &&
		    !rec_seal(seg + at, len - at))
			break;
		size = rec_read(seg + at, len - at, &first, both);
		at += size > 0 ? (uint32_t)size : SEG_UNIT;
	}
}

static void
ask(struct store *st)
{
	static const char *const queries[] = { "{\"limit\":500}",
		"{\"offset\":2500,\"verbose\":true}", "{\"afterEventId\":\"1.2\"}",
		"{\"returnValue\":{\"isNull\":true},\"threadId\":1}",
		"{\"returnValue\":{\"equals\":\"0x7\"},\"offset\":2100}",
		"{\"function\":{\"equals\":\"f3\"},\"threadId\":2}",
		"{\"function\":{\"equals\":\"f3\"},\"afterEventId\":\"2.9\"}" };
	struct text t = { .max = TEXT_MAX };
	char why[STORE_WHY];
	struct query q;
	size_t i;

	for (i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		text_reset(&t, SIZE_MAX);
		if (query_parse_text(queries[i], strlen(queries[i]), &q,
		    why) == -1)
			abort();
		query_run(st, &q, &t, why);
		query_free(&q);
	}
	text_free(&t);
}

/* From the first to the last, and not back; how many there are. */
static uint64_t
walk(struct store *st)
{
	struct place first = { 0, 0, 0 };
	struct filter f;
	struct cursor *c;
	struct seen ev;
	char why[STORE_WHY];
	uint64_t ts = 0, n = 0;

	if (filter_make(st, NULL, &f, why) == -1)
		abort();
	c = cursor_open(&f, &first, UINT64_MAX);
	while (cursor_next(c, &ev) == 1) {
		if (ev.ts < ts || n++ > st->collected)
			abort();
		ts = ev.ts;
	}
	cursor_close(c);
	filter_free(&f);
	return n;
}

/* -- calls, as the tracer appends them ------------------------------------ */
struct calls {
	struct input in;
	struct store *st;
	struct event last;		/* what is repeated */
	uint64_t ts, stored;		/* stored: or made room since */
	struct event open[4];		/* of each thread, to be left */
	uint8_t bytes[2][SEG_CAPTURES];
};

static void
append(struct calls *c, struct event *ev)
{
	ev->ts_ns = ++c->ts;
	c->stored += store_append(c->st, ev, 1, UINT64_MAX);
}

/* Makes captures: a number, nothing, or any bytes. */
static uint16_t
captures(struct calls *c, uint8_t *to)
{
	static const uint16_t lens[] = { 12, 12, 12, 20, 0, 8, 40, 6000 };
	struct captured one = { 0, 8 };
	uint16_t how = take_u16(&c->in), len = lens[how & 7];
	uint64_t value = how >> 3;

	if (len == 12 || len == 20) {
		memset(to, 'v', len);
		one.len = (uint16_t)(len - sizeof(one));
		memcpy(to, &one, sizeof(one));
		memcpy(to + sizeof(one), &value, sizeof(value));
	} else {
		memset(to, how >> 8, len);
		take(&c->in, to, len < 8 ? len : 8);
	}
	return len;
}

static void
make_call(struct calls *c, uint8_t op)
{
	static const uint8_t kinds[] = { EVENT_ENTER, EVENT_EXIT, EVENT_CALL };
	uint32_t t = op >> 3 & 3;
	uint8_t fn = take_u8(&c->in);
	struct event ev = { .kind = kinds[op % 3], .tid = t + 1,
		.fn = fn % FNS, .flags = fn >> 6, .captures = c->bytes[0],
		.exit_captures = c->bytes[1] };

	ev.len = captures(c, c->bytes[0]);
	if (ev.kind == EVENT_CALL)
		ev.exit_len = captures(c, c->bytes[1]);
	if (ev.kind != EVENT_ENTER)
		ev.duration = (uint64_t)fn << (op & 0x80 ? 30 : 0);
	ev.parent = c->open[t].id;
	if (ev.kind == EVENT_EXIT && ev.parent != 0 && (op & 0x80) == 0) {
		/* as it should be */
		ev.fn = c->open[t].fn;
		ev.flags = 0;
		ev.duration = c->ts + 1 - c->open[t].ts_ns;
	}
	append(c, &ev);
	c->last = ev;
	if (ev.kind != EVENT_ENTER)
		ev.id = 0;
	c->open[t] = ev;
}

/* More than fit into a segment, or more threads than have buffers. */
static void
repeat(struct calls *c, bool threads)
{
	uint32_t n = threads ? 70 : 16U * take_u8(&c->in), i;

	if (c->last.kind == 0)
		return;
	if (c->last.len > 1000 && n > BIG_MAX)
		n = BIG_MAX;
	for (i = 0; i < n; i++) {
		if (threads)
			c->last.tid = 100 + i;
		append(c, &c->last);
	}
}

static void
make_calls(struct calls *c)
{
	uint32_t n, times = 0;
	uint8_t op;

	for (n = 0; c->in.left > 0 && n < OPS_MAX; n++) {
		op = take_u8(&c->in);
		if ((op & 0x60) != 0x60)
			make_call(c, op);
		else if ((op & 7) == 0)
			c->ts += (uint64_t)take_u16(&c->in) << 36;
		else if ((op & 7) == 1)
			must(store_flush(c->st) == 0);
		else if ((op & 7) == 2)
			store_thread(c->st, op >> 3 & 3, "named");
		else if ((op & 7) == 3)
			store_thread_gone(c->st, op >> 3 & 3);
		else if ((op & 7) == 4)
			store_lost(c->st, 1 + (op >> 3 & 3), op);
		else if (op >= 0xe0 && (op & 7) == 7)
			break;
		else if ((op & 7) == 7)
			store_limit(c->st, STORE_CALLS_LEAST);
		else if (times++ < 4)
			repeat(c, (op & 7) == 5);
	}
}

static bool
damage(struct calls *c, int fd)
{
	off_t at;
	uint8_t bad;
	bool some = false;

	while (c->in.left > 4) {
		at = (off_t)(take_u8(&c->in) % 4) * SEG_SIZE +
		    take_u16(&c->in) % 9000;
		bad = take_u8(&c->in);
		must(pwrite(fd, &bad, 1, at) == 1);
		some = true;
	}
	return some;
}

/* The next store to open the file finds the same, unless others wrote to it. */
static void
write_and_read(const uint8_t *data, size_t len)
{
	static struct calls c;
	struct store st = copy(), again = copy();
	struct store_stats stats;
	char why[STORE_WHY];
	uint64_t n;

	memset(&c, 0, sizeof(c));
	c.in = (struct input){ data, len };
	c.st = &st;
	st.rows_end = &st.rows;
	again.rows_end = &again.rows;
	must(ftruncate(st.files.calls_fd, 0) == 0);
	make_calls(&c);
	must(store_flush(&st) == 0);
	store_stats(&st, &stats);
	must(stats.calls + stats.evicted == c.stored);
	must(walk(&st) == stats.calls);
	ask(&st);
	if (damage(&c, st.files.calls_fd))
		stats.calls = UINT64_MAX;
	must(store_recover(&again, why) == 0);
	n = walk(&again);
	must(n == stats.calls || stats.calls == UINT64_MAX);
	ask(&again);
	forget(&again);
	forget(&st);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t seg[8192];
	static struct seg_index index;
	struct event ev = { .kind = EVENT_EXIT, .tid = 1, .fn = 1,
		.ts_ns = 1, .captures = "" };
	struct store st;
	char why[STORE_WHY];
	size_t part, slot;

	if (len > 0 && data[0] == 'E') {
		write_and_read(data + 1, len - 1);
		return 0;
	}
	st = copy();
	st.rows_end = &st.rows;
	if (ftruncate(st.files.calls_fd, 0) == -1)
		abort();
	for (slot = 0; len > 32 && slot < 4; slot++) {
		part = len - 32 < sizeof(seg) ? len - 32 : sizeof(seg);
		memcpy(seg, data + 32, part);
		mend(seg, part, data, 32);
		if (pwrite(st.files.calls_fd, seg, part,
		    (off_t)slot * SEG_SIZE) == -1)
			abort();
		seg_sums_good((const void *)seg, (uint32_t)part / 8, 9);
		seg_index(seg, part, 5, &index);
		data += part / 2 + 1;
		len -= part / 2 + 1;
	}
	if (store_recover(&st, why) == 0) {
		walk(&st);
		ask(&st);
		store_append(&st, &ev, 1, UINT64_MAX);
		store_limit(&st, 0);
		store_flush(&st);
		ask(&st);
	}
	forget(&st);
	return 0;
}
