/* SPDX-License-Identifier: ISC */
/*
 * WebSockets: wslay takes frames apart and puts them together, what is
 * bounded here is what it keeps.  Messages are gathered here and not by
 * wslay, which would take a piece of memory for every fragment.
 */
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

#include "ws.h"

/* Answers to pings that may wait inside wslay. */
#define PONGS_MAX	8
#define MESSAGE_MIN	256

struct ws {
	wslay_event_context_ptr	 event;		/* what comes */
	wslay_frame_context_ptr	 frame;		/* what goes, but for pongs */
	const struct ws_calls	*calls;
	void			*arg;
	/* the message that is coming; NULL = it has no bytes yet */
	uint8_t			*buf;
	size_t			 len, cap;
	bool			 control;	/* the frame that is coming */
	enum ws_code		 refused;	/* 0 = nothing was wrong */
	bool			 dry;		/* take() had nothing */
	bool			 closed;
};

static ssize_t
on_recv(wslay_event_context_ptr event, uint8_t *buf, size_t len, int flags,
    void *arg)
{
	struct ws *w = arg;
	size_t n = 0;

	(void)flags;
	if (wslay_event_get_queued_msg_count(event) < PONGS_MAX) {
		n = w->calls->take(w->arg, buf, len);
		w->dry = n == 0;
	}
	if (n > 0)
		return (ssize_t)n;
	/* wslay's own memory: a token may have been in it, which has been read */
	explicit_bzero(buf, len);
	wslay_event_set_error(event, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t
on_send(wslay_event_context_ptr event, const uint8_t *data, size_t len,
    int flags, void *arg)
{
	struct ws *w = arg;

	(void)event;
	(void)flags;
	w->calls->give(w->arg, data, len);
	return (ssize_t)len;
}

static ssize_t
on_frame_send(const uint8_t *data, size_t len, int flags, void *arg)
{
	return on_send(NULL, data, len, flags, arg);
}

/* Stops reading: the rest of what the client sent is not looked at. */
static void
refuse(struct ws *w, enum ws_code code)
{
	if (w->refused == 0)
		w->refused = code;
	wslay_event_shutdown_read(w->event);
}

static bool
make_room(struct ws *w, size_t n)
{
	size_t cap = w->cap < MESSAGE_MIN ? MESSAGE_MIN : w->cap;
	uint8_t *p;

	if (n > WS_MESSAGE_MAX - w->len) {
		refuse(w, WS_TOO_BIG);
		return false;
	}
	if (n <= w->cap - w->len)
		return true;
	while (cap < w->len + n)
		cap *= 2;
	p = malloc(cap);
	if (p == NULL) {
		refuse(w, WS_INTERNAL);
		return false;
	}
	/* realloc() would leave the old bytes, maybe of a token, behind */
	if (w->buf != NULL) {
		memcpy(p, w->buf, w->len);
		explicit_bzero(w->buf, w->len);
		free(w->buf);
	}
	w->buf = p;
	w->cap = cap;
	return true;
}

static void
forget_message(struct ws *w)
{
	if (w->buf != NULL)
		explicit_bzero(w->buf, w->len);
	free(w->buf);
	w->buf = NULL;
	w->len = w->cap = 0;
}

/* Control frames may stand between the fragments of a message. */
static void
on_frame_start(wslay_event_context_ptr event,
    const struct wslay_event_on_frame_recv_start_arg *a, void *arg)
{
	struct ws *w = arg;

	(void)event;
	w->control = wslay_is_ctrl_frame(a->opcode);
	if (!w->control && a->payload_length > WS_MESSAGE_MAX - w->len)
		refuse(w, WS_TOO_BIG);
}

static void
on_chunk(wslay_event_context_ptr event,
    const struct wslay_event_on_frame_recv_chunk_arg *a, void *arg)
{
	struct ws *w = arg;

	(void)event;
	/* wslay keeps those of control frames: 125 at most */
	if (w->refused != 0 || w->control || a->data_length == 0 ||
	    !make_room(w, a->data_length))
		return;
	memcpy(w->buf + w->len, a->data, a->data_length);
	w->len += a->data_length;
}

static void
on_message(wslay_event_context_ptr event,
    const struct wslay_event_on_msg_recv_arg *a, void *arg)
{
	static const uint8_t nothing[1];
	struct ws *w = arg;

	(void)event;
	if (w->refused != 0 || wslay_is_ctrl_frame(a->opcode))
		return;
	w->calls->message(w->arg, a->opcode == WSLAY_BINARY_FRAME,
	    w->buf == NULL ? nothing : w->buf, w->len);
	forget_message(w);
	/* the message may have been a reason to close */
	if (w->closed)
		wslay_event_shutdown_read(w->event);
}

static const struct wslay_event_callbacks event_calls = {
	.recv_callback = on_recv,
	.send_callback = on_send,
	.on_frame_recv_start_callback = on_frame_start,
	.on_frame_recv_chunk_callback = on_chunk,
	.on_msg_recv_callback = on_message,
};

static const struct wslay_frame_callbacks frame_calls = {
	.send_callback = on_frame_send,
};

struct ws *
ws_new(const struct ws_calls *calls, void *arg)
{
	struct ws *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->calls = calls;
	w->arg = arg;
	if (wslay_event_context_server_init(&w->event, &event_calls, w) != 0) {
		w->event = NULL;
		goto fail;
	}
	if (wslay_frame_context_init(&w->frame, &frame_calls, w) != 0) {
		w->frame = NULL;
		goto fail;
	}
	wslay_event_config_set_no_buffering(w->event, 1);
	wslay_event_config_set_max_recv_msg_length(w->event, WS_MESSAGE_MAX);
	return w;
fail:
	ws_free(w);
	return NULL;
}

void
ws_free(struct ws *w)
{
	if (w == NULL)
		return;
	wslay_event_context_free(w->event);
	wslay_frame_context_free(w->frame);
	forget_message(w);
	free(w);
}

/* A frame in as many parts as it is called for: give() takes all at once. */
static void
put_part(struct ws *w, uint8_t opcode, const void *p, size_t len,
    size_t whole)
{
	struct wslay_frame_iocb io = {
		.fin = 1,
		.opcode = opcode,
		.payload_length = whole,
		.data = p,
		.data_length = len,
	};

	(void)wslay_frame_send(w->frame, &io);
}

void
ws_send(struct ws *w, bool binary, const void *head, size_t nhead,
    const void *body, size_t nbody)
{
	uint8_t opcode = binary ? WSLAY_BINARY_FRAME : WSLAY_TEXT_FRAME;

	if (w->closed)
		return;
	put_part(w, opcode, head, nhead, nhead + nbody);
	if (nbody > 0)
		put_part(w, opcode, body, nbody, nhead + nbody);
}

void
ws_ping(struct ws *w)
{
	if (!w->closed)
		put_part(w, WSLAY_PING, NULL, 0, 0);
}

void
ws_close(struct ws *w, enum ws_code code, const char *reason)
{
	uint8_t body[2 + WS_REASON_MAX];
	size_t n = strlen(reason);

	if (w->closed)
		return;
	w->closed = true;
	if (n > WS_REASON_MAX)
		n = WS_REASON_MAX;
	/* not half a character: the reason is UTF-8 */
	while (n > 0 && n < strlen(reason) && (reason[n] & 0xc0) == 0x80)
		n--;
	body[0] = (uint8_t)(code >> 8);
	body[1] = (uint8_t)(code & 0xff);
	memcpy(body + 2, reason, n);
	put_part(w, WSLAY_CONNECTION_CLOSE, body, n + 2, n + 2);
}

bool
ws_is_open(const struct ws *w)
{
	return !w->closed;
}

static const char *
reason_of(enum ws_code code)
{
	return code == WS_TOO_BIG ? "a message is at most 65536 bytes" :
	    code == WS_INTERNAL ? "out of memory" : "";
}

/* Pongs, and the close that answers the client's or tells what it broke. */
static void
ws_answer(struct ws *w)
{
	if (w->closed)
		return;
	(void)wslay_event_send(w->event);
	w->closed = wslay_event_get_close_sent(w->event);
}

bool
ws_read(struct ws *w)
{
	w->dry = false;
	/* wslay returns at half a header, and is stopped at so many pings */
	while (!w->dry && !w->closed) {
		/* and closes without a code where a header is wrong */
		if (wslay_event_recv(w->event) != 0 && w->refused == 0)
			w->refused = WS_PROTOCOL_ERROR;
		if (w->refused != 0)
			ws_close(w, w->refused, reason_of(w->refused));
		else
			ws_answer(w);
	}
	return !w->closed;
}
