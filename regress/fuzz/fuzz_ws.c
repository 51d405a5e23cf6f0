/* SPDX-License-Identifier: ISC */
/* links: netproc/term/ws.c netproc/term/termmsg.c netproc/text/replies.c common/base/json.c common/base/text.c netproc/text/text64.c netproc/text/jsonlex.c netproc/text/line.c common/base/log.c -lwslay common/base/base64.c common/base/utf8.c */
/* covers: netproc/term/ws.c netproc/term/termmsg.c netproc/text/replies.c */
/*
 * Fuzz target of WebSockets: the input is what a client sends after its
 * handshake.  However it is cut into pieces, the same messages come out, all
 * bounded, and what is sent are whole frames that a client may receive.  Each
 * message is then taken apart as those of terminals are.
 *
 * An input that begins with 0xff '>' is what the server says: in both of its
 * forms, and in frames, it is read again as it was written.
 */
#include <json-c/json.h>

#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"

#include "base/base64.h"
#include "netproc/term/termmsg.h"
#include "netproc/term/ws.h"
#include "netproc/text/replies.h"

#define OUT_MAX		(1024 * 1024)

/* State of a reading of the input. */
struct side {
	const uint8_t	*in;
	size_t		 left, piece;
	uint8_t		 out[OUT_MAX];
	size_t		 out_len;
	uint64_t	 sum;		/* of all messages */
	size_t		 messages;
	bool		 over;
	unsigned int	 code;		/* of the close; 0 = none */
};

#define NOT_UTF8	1007

static size_t
take_bytes(void *arg, void *buf, size_t len)
{
	struct side *s = arg;
	size_t n = s->left < len ? s->left : len;

	if (s->piece != 0 && n > s->piece)
		n = s->piece;
	memcpy(buf, s->in, n);
	s->in += n;
	s->left -= n;
	return n;
}

static void
give(void *arg, const void *p, size_t n)
{
	struct side *s = arg;

	if (n > OUT_MAX - s->out_len) {
		s->over = true;
		return;
	}
	memcpy(s->out + s->out_len, p, n);
	s->out_len += n;
}

static void
check_message(bool binary, const uint8_t *p, size_t n)
{
	static char kept[WS_MESSAGE_MAX];
	struct term_msg m;
	const char *why;

	why = binary ? termmsg_parse(p, n, &m) :
	    termmsg_parse_json((const char *)p, n, &m);
	if (why != NULL)
		return;
	must(m.type <= TERM_ACK && m.len <= n);
	if (m.type == TERM_RESIZE)
		must(m.cols > 0 && m.rows > 0 && m.cols <= 65535 &&
		    m.rows <= 65535);
	if (m.type == TERM_INPUT)
		must(replies_strip(m.p, m.len, kept) <= m.len);
	if (m.type == TERM_TOKEN)
		termmsg_wipe();
}

static void
message(void *arg, bool binary, const uint8_t *p, size_t n)
{
	struct side *s = arg;
	size_t i;

	must(n <= WS_MESSAGE_MAX);
	s->messages++;
	s->sum = s->sum * 31 + n * 2 + binary;
	for (i = 0; i < n; i++)
		s->sum = s->sum * 31 + p[i];
	check_message(binary, p, n);
}

static const struct ws_calls calls = { take_bytes, give, message };

/* Whole frames, not masked; nothing after a close. */
static void
check_frames(struct side *s)
{
	const uint8_t *p = s->out;
	size_t left = s->out_len, n;

	s->code = 0;
	while (left > 0) {
		must(s->code == 0 && left >= 2);
		/* control frames are all that is answered here */
		must((p[0] == 0x88 || p[0] == 0x8a) && p[1] <= 125);
		n = 2 + (size_t)p[1];
		must(n <= left);
		if (p[0] == 0x88)
			s->code = n < 4 ? 1 : p[2] * 256U + p[3];
		p += n;
		left -= n;
	}
}

static void
run(struct side *s, const uint8_t *data, size_t size, size_t piece)
{
	struct ws *w;

	fault_begin();
	w = ws_new(&calls, s);
	fault_end();
	if (w == NULL)
		return;
	s->in = data;
	s->left = size;
	s->piece = piece;
	s->out_len = s->messages = 0;
	s->sum = 0;
	s->over = false;
	fault_begin();
	must(ws_read(w) == ws_is_open(w));
	fault_end();
	must(s->left == 0 || !ws_is_open(w));
	if (!s->over)
		check_frames(s);
	ws_free(w);
}

/* -- what the server says -------------------------------------------------- */

#define FRAME_MAX	(1024 * 1024)

static uint64_t
big_endian(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

static int64_t
int_of(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	must(json_object_object_get_ex(o, key, &v) &&
	    json_object_is_type(v, json_type_int));
	return json_object_get_int64(v);
}

/* Returns the text's object, which is of this type, and empties the text. */
static struct json_object *
read_text(struct text *t, const char *type)
{
	struct json_tokener *tok = json_tokener_new_ex(8);
	struct json_object *o, *v = NULL;

	must(tok != NULL && !t->bad);
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(tok, t->p, (int)t->len);
	must(json_tokener_get_error(tok) == json_tokener_success);
	must(json_tokener_get_parse_end(tok) == t->len);
	json_tokener_free(tok);
	must(json_object_object_get_ex(o, "type", &v));
	must(strcmp(json_object_get_string(v), type) == 0);
	text_free(t);
	t->max = FRAME_MAX;
	return o;
}

static void
say_bytes(struct input *in, struct text *t)
{
	uint8_t head[TERM_HEAD_MAX];
	uint64_t offset = take_u64(in) >> 1;
	struct input preamble = take_part(in, take_u8(in));
	struct input bytes = take_part(in, take_u8(in));
	struct json_object *o, *v = NULL;
	char *data;
	size_t n;

	must(termmsg_history(head, offset, preamble.left) == 11);
	must(head[0] == TERM_HISTORY && big_endian(head + 1, 8) == offset &&
	    big_endian(head + 9, 2) == preamble.left);
	must(termmsg_bytes(head, TERM_OUTPUT, offset) == 9);
	must(head[0] == TERM_OUTPUT && big_endian(head + 1, 8) == offset);
	termjson_bytes(t, "history", offset, preamble.p, preamble.left,
	    bytes.p, bytes.left);
	o = read_text(t, "history");
	must(int_of(o, "offset") == (int64_t)offset);
	must(preamble.left == 0 ||
	    int_of(o, "preamble") == (int64_t)preamble.left);
	must(json_object_object_get_ex(o, "data", &v));
	data = copy_of(json_object_get_string(v),
	    (size_t)json_object_get_string_len(v), true);
	must(base64_get(data, strlen(data), data, &n));
	must(n == preamble.left + bytes.left);
	must(preamble.left == 0 ||
	    memcmp(data, preamble.p, preamble.left) == 0);
	must(bytes.left == 0 ||
	    memcmp(data + preamble.left, bytes.p, bytes.left) == 0);
	free(data);
	json_object_put(o);
}

static void
say_end(struct input *in, struct text *t)
{
	uint8_t head[TERM_HEAD_MAX];
	uint32_t code = take_u32(in), signal = take_u8(in);
	char *name = copy_of("TERM", signal % 5, true);
	struct json_object *o, *v = NULL;

	must(termmsg_exit(head, (int32_t)code, signal) == 9);
	must(head[0] == TERM_EXIT && big_endian(head + 1, 4) == code &&
	    big_endian(head + 5, 4) == signal);
	termjson_exit(t, (int32_t)code, signal == 0 ? NULL : name);
	o = read_text(t, "exit");
	must(int_of(o, "code") == ((int32_t)code < 0 ? -1 : (int32_t)code));
	must(json_object_object_get_ex(o, "signal", &v));
	must((signal == 0) == (v == NULL));
	must(v == NULL || strcmp(json_object_get_string(v), name) == 0);
	json_object_put(o);
	free(name);
}

static void
say_numbers(struct input *in, struct text *t)
{
	uint8_t head[TERM_HEAD_MAX];
	uint64_t a = take_u32(in), b = take_u16(in);
	struct json_object *o;

	must(termmsg_lost(head, a, b) == 17);
	must(head[0] == TERM_LOST && big_endian(head + 1, 8) == a &&
	    big_endian(head + 9, 8) == b);
	termjson_lost(t, a, b);
	o = read_text(t, "lost");
	must(int_of(o, "from") == (int64_t)a && int_of(o, "to") == (int64_t)b);
	json_object_put(o);
	must(termmsg_live(head, a) == 9 && head[0] == TERM_LIVE &&
	    big_endian(head + 1, 8) == a);
	termjson_live(t, a);
	o = read_text(t, "live");
	must(int_of(o, "offset") == (int64_t)a);
	json_object_put(o);
	a &= 0xffff;
	must(termmsg_size(head, (uint32_t)a, (uint32_t)b) == 5);
	must(head[0] == TERM_SIZE && big_endian(head + 1, 2) == a &&
	    big_endian(head + 3, 2) == b);
	termjson_size(t, (uint32_t)a, (uint32_t)b);
	o = read_text(t, "size");
	must(int_of(o, "cols") == (int64_t)a && int_of(o, "rows") ==
	    (int64_t)b);
	json_object_put(o);
}

static void
say_words(struct input *in, struct text *t)
{
	struct input part = take_part(in, take_u8(in));
	struct text list = { .max = FRAME_MAX };
	struct json_object *o, *v = NULL;
	char *words = copy_of(part.p, part.left, true);

	termjson_error(t, "not_found", words);
	o = read_text(t, "error");
	must(json_object_object_get_ex(o, "message", &v));
	json_object_put(o);
	json_open(&list, '[');
	json_text(&list, words);
	json_close(&list, ']');
	termjson_people(t, &list);
	o = read_text(t, "people");
	must(json_object_object_get_ex(o, "people", &v));
	must(json_object_array_length(v) == 1);
	json_object_put(o);
	text_free(&list);
	free(words);
}

/* Reads a frame of ours at p into body; returns where the next one begins. */
static const uint8_t *
read_frame(const uint8_t *p, size_t left, struct input *body)
{
	size_t head = 2;

	must(left >= 2 && (p[0] & 0xf0) == 0x80 && p[1] <= 127);
	body->left = p[1];
	if (p[1] >= 126) {
		head = p[1] == 126 ? 4 : 10;
		must(left >= head);
		body->left = big_endian(p + 2, head - 2);
	}
	must(body->left <= left - head);
	body->p = p + head;
	return body->p + body->left;
}

/* A message, a ping, and a close with a reason: so many frames. */
static void
say_frames(struct input *in, struct side *s)
{
	struct input head = take_part(in, take_u8(in));
	struct input body = take_part(in, take_u16(in)), got;
	char *why = copy_of(in->p, in->left % 300, true);
	struct ws *w = ws_new(&calls, s);
	const uint8_t *p = s->out;

	must(w != NULL);
	s->out_len = 0;
	ws_send(w, true, head.p, head.left, body.p, body.left);
	ws_ping(w);
	ws_close(w, WS_PROTOCOL_ERROR, why);
	must(!ws_is_open(w));
	/* nothing comes after it */
	ws_close(w, WS_TOO_BIG, "");
	ws_ping(w);
	ws_send(w, false, "x", 1, "y", 1);
	p = read_frame(p, s->out_len, &got);
	must(s->out[0] == 0x82 && got.left == head.left + body.left);
	must(head.left == 0 || memcmp(got.p, head.p, head.left) == 0);
	must(body.left == 0 || memcmp(got.p + head.left, body.p,
	    body.left) == 0);
	must(*p == 0x89);
	p = read_frame(p, s->out_len - (size_t)(p - s->out), &got);
	must(*p == 0x88 && got.left == 0);
	p = read_frame(p, s->out_len - (size_t)(p - s->out), &got);
	must(p == s->out + s->out_len && got.left <= 125);
	must(memcmp(got.p + 2, why, got.left - 2) == 0);
	must(got.left == 125 || got.left - 2 == strlen(why) ||
	    strlen(why) > WS_REASON_MAX);
	ws_free(w);
	free(why);
}

static void
say(struct input *in, struct side *s)
{
	struct text t = { .max = FRAME_MAX };

	while (in->left > 0)
		switch (take_u8(in) % 5) {
		case 0:
			say_bytes(in, &t);
			break;
		case 1:
			say_end(in, &t);
			break;
		case 2:
			say_numbers(in, &t);
			break;
		case 3:
			say_words(in, &t);
			break;
		default:
			say_frames(in, s);
			break;
		}
	text_free(&t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct side whole, cut;
	static bool ready;

	if (!ready) {
		quiet();
		termmsg_init();
		ready = true;
	}
	if (size >= 2 && memcmp(data, "\xff>", 2) == 0) {
		say(&(struct input){ data + 2, size - 2 }, &whole);
		return 0;
	}
	/* a reading that fails is not like another */
	if (fault_plan(&data, &size)) {
		run(&whole, data, size, 0);
		return 0;
	}
	if (size == 0)
		return 0;
	/* the first byte says into how small pieces the rest is cut */
	run(&whole, data + 1, size - 1, 0);
	run(&cut, data + 1, size - 1, (size_t)data[0] + 1);
	must(whole.messages == cut.messages && whole.sum == cut.sum);
	/*
	 * A ping right before what is wrong may stay without an answer, and a
	 * client that closes for a reason that is not UTF-8 may get its own
	 * code back, or not be answered before its frame is whole: wslay looks
	 * at a reason as it comes, but not at the first bytes of each piece.
	 */
	must(whole.over || cut.over ||
	    (whole.code == 0) == (cut.code == 0) ||
	    whole.code + cut.code == NOT_UTF8);
	return 0;
}
