/* SPDX-License-Identifier: ISC */
/* links: client/ctl/cast.c client/ctl/escape.c client/ctl/terminal_proto.c client/ctl/escape_filter.c client/lib/report.c client/lib/safe.c common/base/utf8.c */
/* covers: client/ctl/cast.c client/ctl/escape.c client/ctl/terminal_proto.c client/ctl/escape_filter.c common/base/utf8.c */
/*
 * Fuzz target: what the client reads of daemons, recordings and keyboards.
 * The first byte says which, the second how it is cut into pieces.
 */
#include <stdio.h>

#include "regress/fuzz/fuzz.h"

#include "client/ctl/cast.h"
#include "client/ctl/escape.h"
#include "client/ctl/escape_filter.h"
#include "client/ctl/terminal_proto.h"
#include "client/lib/report.h"

#define LONGEST	(64U << 10)

static void
read_cast(const uint8_t *data, size_t len, size_t piece)
{
	FILE *in = fmemopen((void *)(uintptr_t)data, len, "r");
	struct cast_reader *r;
	struct cast_header h;
	struct cast_event e;
	unsigned int cols, rows;
	double at = 0;

	(void)piece;
	if (in == NULL)
		return;
	report_hold();
	if ((r = cast_open(in, "x", &h)) != NULL) {
		if (h.cols < 1 || h.rows < 1 || h.idle_limit < 0)
			abort();
		for (; cast_next(r, &e) == 1; at = e.at)
			if (!(e.at >= at) || e.data[e.len] != '\0' ||
			    (cast_size(&e, &cols, &rows) &&
			    (cols == 0 || rows == 0)))
				abort();
		cast_close(r);
	}
	free(report_release());
	fclose(in);
}

/* The reader must be able to read what the writer has written. */
static void
write_cast(const uint8_t *data, size_t len, size_t piece)
{
	struct cast_writer w;
	struct cast_reader *r;
	struct cast_header h;
	struct cast_event e;
	unsigned int cols, rows;
	size_t i, n, size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	cast_begin(&w, f, 80, 24, 0, "fuzz");
	cast_resize(&w, 0, (unsigned int)piece, 24);
	cast_mark(&w, 0, "mark");
	for (i = 0; i < len; i += n) {
		n = len - i < piece ? len - i : piece;
		cast_output(&w, (double)i, data + i, n);
	}
	if (cast_end(&w, (double)len) == -1 || fclose(f) != 0)
		abort();
	f = fmemopen(text, size, "r");
	if ((r = cast_open(f, "x", &h)) == NULL)
		abort();
	must(cast_next(r, &e) == 1 && cast_size(&e, &cols, &rows) &&
	    cols == piece && rows == 24);
	must(cast_next(r, &e) == 1 && e.code == 'm');
	for (n = 0; (i = (size_t)cast_next(r, &e)) == 1;)
		n += e.len;
	/* a byte that is no character becomes three */
	if (i != 0 || n < len || n > 3 * len)
		abort();
	cast_close(r);
	fclose(f);
	free(text);
}

/* A message is as long as its head says. */
static void
say(const uint8_t *data, size_t len, size_t piece)
{
	static uint8_t msg[TERMINAL_MAX + TERMINAL_HEAD + 1];

	must(terminal_put_input(msg, data, len) ==
	    terminal_msg_length(msg) + TERMINAL_HEAD);
	must(terminal_put_resize(msg, (unsigned int)piece, 24) ==
	    terminal_msg_length(msg) + TERMINAL_HEAD);
	must(terminal_put_ack(msg, len) ==
	    terminal_msg_length(msg) + TERMINAL_HEAD);
}

static void
decode(const uint8_t *data, size_t len, size_t piece)
{
	struct terminal_msg m;

	say(data, len, piece);
	if (terminal_msg_decode(&m, data, len) != 0)
		return;
	if (m.data != NULL && (m.data < data || m.data + m.len > data + len ||
	    m.preamble > m.len))
		abort();
	if (m.error != NULL && (strlen(m.error) >= len ||
	    m.text + m.text_len != data + len))
		abort();
}

static size_t
pass(const uint8_t *data, size_t len, size_t piece, uint8_t *out)
{
	uint8_t buf[256 + ESCAPE_FILTER_HELD];
	struct escape_filter q;
	size_t i, n, total = 0;

	escape_filter_init(&q, true);
	for (i = 0; i < len; i += piece) {
		n = escape_filter_feed(&q, data + i, len - i < piece ? len - i :
		    piece, buf);
		memcpy(out + total, buf, n);
		total += n;
	}
	return total;
}

/* Filtering the filter's output again must not change it. */
static void
filter(const uint8_t *data, size_t len, size_t piece)
{
	static uint8_t once[LONGEST + ESCAPE_FILTER_HELD], twice[sizeof(once)];
	size_t n = pass(data, len, piece, once);

	if (n > len)
		abort();
	/* nor may it be in the middle of something */
	once[n++] = 'x';
	if (pass(once, n, piece, twice) != n || memcmp(once, twice, n) != 0)
		abort();
}

static void
type(const uint8_t *data, size_t len, size_t piece)
{
	uint8_t out[257];
	struct escape e;
	size_t used, n, got = 0;
	const size_t all = len;
	char *text = copy_of(data, len, true);

	must(escape_parse(text) >= -2 && escape_parse(text) <= 0x7f);
	free(text);
	escape_init(&e, '~');
	for (; len > 0; data += used, len -= used) {
		used = len < piece ? len : piece;
		if (escape_feed(&e, data, &used, out, &n) ==
		    ESCAPE_NOTHING && used == 0)
			abort();
		got += n;
	}
	if (got > all)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static void (*const targets[])(const uint8_t *, size_t, size_t) = {
		read_cast, write_cast, decode, filter, type,
	};
	uint8_t which;

	if (len < 3 || len > LONGEST)
		return 0;
	which = data[0] % (sizeof(targets) / sizeof(targets[0]));
	targets[which](data + 2, len - 2, data[1] % 255U + 1U);
	return 0;
}
