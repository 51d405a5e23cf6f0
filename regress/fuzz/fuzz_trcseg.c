/* SPDX-License-Identifier: ISC */
/* links: common/log.c tracer/store/text.c tracer/store/tally.c tracer/store/segment.c tracer/store/store*.c tracer/store/query*.c common/utf8.c */
/* covers: tracer/store/segment.c tracer/store/store_recover.c tracer/store/store_chunk.c tracer/store/query_cursor.c */
/*
 * Fuzz target of the timeline's reader: whatever the file of calls holds,
 * opening it and asking is safe, and what is shown is in order.  Checks are
 * made right, so that what is behind them is reached.
 */
#include <sys/mman.h>

#include <stdio.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "tracer/store/query_int.h"

#define TAG	7

/* A timeline without calls: made once, as a database takes its time. */
static struct store *
base(void)
{
	const struct store_meta meta = { .id = "fuzz", .status = "running" };
	const struct store_limits limits = STORE_LIMITS_DEFAULT;
	struct store_files files;
	static struct store *st;
	char why[STORE_WHY];

	if (st != NULL)
		return st;
	quiet();
	files.calls_fd = memfd_create("c", MFD_CLOEXEC);
	files.db_fd = memfd_create("d", MFD_CLOEXEC);
	files.wal_fd = memfd_create("w", MFD_CLOEXEC);
	if ((st = store_open(&files, &meta, &limits, why)) == NULL ||
	    store_flush(st) == -1)
		abort();
	st->tag = TAG;
	return st;
}

/* What an input has added to a copy of it. */
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
	tally_free(&st->tally);
	free(st->free_slots);
}

/* Headers and records get right checks if a bit of the input says so. */
static void
mend(uint8_t *seg, size_t len, const uint8_t *how, size_t nhow)
{
	static const struct seg_first first = { 0, 1 };
	struct seg_head h;
	struct rec_head r;
	struct rec both[2];
	uint32_t at = SEG_HEAD, n = 0;
	int32_t size;

	if (len < SEG_HEAD)
		return;
	memcpy(&h, seg, sizeof(h));
	h.tag = TAG;
	h.ord = h.ord % 3 + 1;
	h.bytes = (uint32_t)(len - SEG_HEAD) & ~(SEG_UNIT - 1);
	h.count %= 2 * (h.bytes / REC_HEAD) + 1;
	h.nsums %= h.count + 1;
	h.nothers %= h.nsums + 1;
	h.nkeys %= h.count + 1;
	seg_head_seal(&h);
	memcpy(seg, &h, sizeof(h));
	for (; at + REC_HEAD <= len && n < nhow * 8; n++) {
		memcpy(&r, seg + at, sizeof(r));
		/* short ones, of functions that have names to be few */
		r.when &= UINT64_C(0x00ff00000000ffff);
		r.what &= ~(UINT64_C(0x3f80) << 31 | UINT64_C(0x3f80) << 45 |
		    UINT64_C(0x1f) << 59 | UINT64_C(0xfff00));
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
		"{\"returnValue\":{\"isNull\":true},\"threadId\":1}" };
	struct text t = { .max = 0 };
	char why[STORE_WHY];
	struct query q;
	size_t i;

	for (i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		text_clear(&t);
		if (query_parse_text(queries[i], strlen(queries[i]), &q,
		    why) == -1)
			abort();
		query_run(st, &q, &t, why);
		query_free(&q);
	}
	text_free(&t);
}

/* From the first to the last, and not back. */
static void
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
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t seg[8192];
	static struct seg_sum sums[SEG_SUMS];
	struct event ev = { .kind = EVENT_EXIT, .tid = 1, .fn = 1,
		.ts_ns = 1, .captures = "" };
	struct store st = *base();
	char why[STORE_WHY];
	size_t part, slot;

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
		seg_summarize(seg, part, sums);
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
