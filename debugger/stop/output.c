/* SPDX-License-Identifier: ISC */
/* A stretch of the program's output, from the ring, as answers show it. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "debugger/base/debuggee.h"
#include "debugger/bps/condition.h"
#include "debugger/text/json_get.h"
#include "debugger/text/json_make.h"
#include "output.h"
#include "wire/ring.h"

#define MOST		(64U << 10)

static struct json_object *
piece(const char *stream, const char *bytes, size_t len)
{
	struct json_object *o = jone_str("stream", stream);
	char *text;

	if (format_is_text(bytes, len)) {
		jput(o, "text", jtext_clean(bytes, len));
	} else {
		text = format_base64(bytes, len);
		jput_str(o, "base64", text);
		free(text);
	}
	return o;
}

/* Pieces that one answer may have, as the configuration says. */
static size_t
most_pieces(void)
{
	return dbg_said.max_events == 0 ? SIZE_MAX : dbg_said.max_events;
}

static const char *
stream_name(uint32_t stream)
{
	return stream == 2 ? "stderr" : "stdout";
}

/* Cuts what was read where the stream changes. */
static void
add_pieces(struct bound *b, struct json_object *arr, const char *bytes,
    uint64_t from, uint64_t to)
{
	uint64_t at = from, end;
	uint32_t stream;

	while (at < to) {
		stream = ring_stream(&dbg.ring, at, &end);
		if (end <= at || end > to)
			end = to;
		if (jlen(arr) >= most_pieces() ||
		    !bound_add(b, arr, piece(stream_name(stream),
			bytes + (at - from), (size_t)(end - at)))) {
			bound_cut(b, "output", (int64_t)(at - from),
			    (int64_t)(to - from), NULL, (int64_t)at);
			return;
		}
		at = end;
	}
}

/* The first whole character: a cut must not begin inside of one. */
static size_t
inside(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && n < 3 && ((unsigned char)bytes[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* The oldest byte from from on that is still there. */
static uint64_t
oldest_held(uint64_t from)
{
	char none[1];

	(void)ring_read(&dbg.ring, &from, none, 0);
	return from;
}

static void
add_ring(struct bound *b, struct json_object *answer,
    struct json_object *arr, uint64_t from, uint64_t to, size_t most)
{
	uint64_t asked, at, held;
	size_t len, skip;
	char *bytes;

	if (most > MOST)
		most = MOST;
	at = asked = to - from > most ? to - most : from;
	if ((bytes = malloc(most)) == NULL)
		return;
	len = ring_read(&dbg.ring, &at, bytes, (size_t)(to - at));
	/* overtaken, what was read goes on behind to */
	if (at > to)
		at = to;
	if (len > to - at)
		len = (size_t)(to - at);
	held = at > asked ? at : oldest_held(from);
	skip = at > from ? inside(bytes, len) : 0;
	at += skip;
	len -= skip;
	/* half a character belongs to what is gone before it */
	if (held + skip >= at)
		held = at;
	if (held > from)
		jput_int(answer, "output_lost", (int64_t)(held - from));
	if (at > held)
		bound_cut(b, "output", (int64_t)(to - at),
		    (int64_t)(to - held), NULL, (int64_t)held);
	add_pieces(b, arr, bytes + skip, at, at + len);
	free(bytes);
}

void
output_put_part(struct bound *b, struct json_object *answer, uint64_t from,
    uint64_t to, size_t most)
{
	struct json_object *arr = jarray();
	const char *log;
	size_t len, lost;

	if (dbg.ring.hdr != NULL && to > from)
		add_ring(b, answer, arr, from, to, most);
	log = condition_log(&len, &lost);
	if (len > most) {
		bound_cut(b, "log", (int64_t)most, (int64_t)(len + lost),
		    NULL, 0);
		log += len - most;
		len = most;
	}
	if (len > 0)
		bound_add(b, arr, piece("log", log, len));
	jput(answer, "output", arr);
}
