/* SPDX-License-Identifier: ISC */
/* links: debugger/text/codec.c debugger/base/program_state.c debugger/dap/profile_table.c common/base/log.c debugger/text/clean.c common/base/utf8.c */
/* covers: debugger/text/codec.c debugger/base/program_state.c common/base/utf8.c debugger/text/clean.c */
/*
 * Fuzz target: what a debug adapter writes, from bytes to the program's state.
 * The first byte says how it is cut into pieces, the second what was asked,
 * and of what the rest is of a message that is larger than any input.
 */
#include <json-c/json.h>

#include <signal.h>

#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"

#include "common/base/utf8.h"
#include "debugger/base/program_state.h"
#include "debugger/dap/profile.h"
#include "debugger/text/clean.h"
#include "debugger/text/codec.h"

static struct dbg	d;
static uint8_t		habits;

/* Now and then a client does something between two messages. */
static void
client(size_t len)
{
	if (d.phase == PHASE_INITIALIZING && (habits & 1) == 0) {
		d.phase = PHASE_CONFIGURING;
	} else if (d.phase == PHASE_CONFIGURING) {
		state_configured(&d, (habits & 2) != 0);
		(void)state_settled(&d);
	} else if (d.phase == PHASE_STOPPED && (len & 1) == 0) {
		state_resume(&d, (habits & 4) != 0 ? INTENT_PAUSE :
		    INTENT_STEP);
		if ((habits & 8) != 0)
			(void)state_refused(&d, "no");
	} else if (d.phase == PHASE_TERMINATED && (habits & 16) != 0)
		state_begin(&d);
}

static void
look(uint64_t epoch, enum change c)
{
	if ((unsigned int)d.phase >= PHASE_COUNT || d.epoch < epoch ||
	    d.stop.nhits > STOP_HITS || d.pid < 0 ||
	    memchr(d.stop.description, '\0', sizeof(d.stop.description)) ==
	    NULL)
		abort();
	if (c == CHANGE_STOPPED && (d.phase != PHASE_STOPPED ||
	    d.stop.reason == NULL || d.epoch == epoch))
		abort();
	if (c == CHANGE_ENDED && d.phase != PHASE_TERMINATED)
		abort();
	if (d.ending.known && d.ending.signal != 0 &&
	    (d.ending.signal < 0 || d.ending.signal >= NSIG))
		abort();
}

static int
on_message(struct json_object *m, const char *text, size_t len, void *arg)
{
	struct json_object *v, *body, *none = json_object_new_object();
	const uint64_t epoch = d.epoch;
	size_t clean_len = len;
	char *clean;

	(void)arg;
	if (json_object_object_get_ex(m, "event", &v) &&
	    json_object_is_type(v, json_type_string)) {
		if (!json_object_object_get_ex(m, "body", &body) ||
		    !json_object_is_type(body, json_type_object))
			body = none;
		look(epoch, state_event(&d, json_object_get_string(v), body));
	}
	json_object_put(none);
	clean = utf8_clean(text, &clean_len);
	if (!utf8_valid(clean, clean_len) || clean_len < len ||
	    (utf8_valid(text, len) && clean_len != len))
		abort();
	free(clean);
	client(len);
	return 0;
}

static void
on_left_out(const char *why, int64_t seq, void *arg)
{
	(void)arg;
	if (why == NULL || seq < -1)
		abort();
}

/* Feeds the rest of an unfinished message: filler, but for its end. */
static void
feed_rest(struct codec *c, const struct codec_fns *fns, char filler)
{
	static const char end[] = ",\"request_seq\": 7}";
	static char buf[65536];
	const char *why = NULL;
	size_t left = c->skip > 0 ? c->skip : c->body > 0 ?
	    c->body - c->len : 0, n;

	if (left > CODEC_FRAME_MAX + 65536)
		return;
	memset(buf, filler, sizeof(buf));
	for (; left > 0; left -= n) {
		n = left > sizeof(buf) ? sizeof(buf) : left;
		if (n == left && n >= sizeof(end))
			memcpy(buf + n - sizeof(end) + 1, end,
			    sizeof(end) - 1);
		fault_begin();
		if (codec_feed(c, buf, n, fns, NULL, &why) == -1)
			left = n;
		fault_end();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct codec_fns fns = { on_message, on_left_out };
	struct codec c = { 0 };
	const char *why = NULL;
	size_t piece, n;

	(void)fault_plan(&data, &len);
	if (len < 3)
		return 0;
	piece = data[0] % 64U + 1U;
	habits = data[1];
	memset(&d, 0, sizeof(d));
	d.profile = &profiles[data[1] % 2U];
	state_begin(&d);
	for (data += 2, len -= 2; len > 0; data += n, len -= n) {
		n = len < piece ? len : piece;
		fault_begin();
		if (codec_feed(&c, data, n, &fns, NULL, &why) == -1)
			n = len;
		fault_end();
		if (c.cap > 2 * CODEC_FRAME_MAX || c.len > c.cap)
			abort();
	}
	if (why == NULL && (habits & 0x60) != 0)
		feed_rest(&c, &fns, (habits & 0x40) != 0 ? ',' : ' ');
	codec_free(&c);
	return 0;
}
