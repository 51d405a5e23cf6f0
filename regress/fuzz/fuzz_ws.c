/* SPDX-License-Identifier: ISC */
/* links: netproc/ws.c netproc/termmsg.c netproc/replies.c netproc/json.c netproc/jsonlex.c netproc/line.c common/log.c -lwslay common/utf8.c */
/* covers: netproc/ws.c netproc/termmsg.c netproc/replies.c */
/*
 * Fuzz target of WebSockets: the input is what a client sends after its
 * handshake.  However it is cut into pieces, the same messages come out, all
 * bounded, and what is sent are whole frames that a client may receive.  Each
 * message is then taken apart as those of terminals are.
 */

#include "regress/fuzz/fuzz.h"

#include "netproc/replies.h"
#include "netproc/termmsg.h"
#include "netproc/ws.h"

#define OUT_MAX		(1024 * 1024)

/* One reading of the input. */
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
	struct ws *w = ws_new(&calls, s);

	must(w != NULL);
	s->in = data;
	s->left = size;
	s->piece = piece;
	s->out_len = s->messages = 0;
	s->sum = 0;
	s->over = false;
	must(ws_read(w) == ws_is_open(w));
	must(s->left == 0 || !ws_is_open(w));
	if (!s->over)
		check_frames(s);
	ws_free(w);
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
