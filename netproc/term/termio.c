/* SPDX-License-Identifier: ISC */
/* Messages of terminals, in the forms that there are. */
#include <stdlib.h>
#include <string.h>

#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "netproc/text/line.h"
#include "termclient.h"
#include "termio.h"

/* Bytes of a client's message that has its length before it. */
#define FRAME_MAX	(32 * 1024)
#define JSON_MAX	((size_t)256 * 1024)

static struct text	 json = { .max = JSON_MAX };

static bool
is_json(const struct term_client *cl)
{
	return cl->ask.form == TERM_WS_JSON;
}

/* -- out ------------------------------------------------------------------ */

static void
send_binary(struct term_client *cl, const uint8_t *head, size_t nhead,
    const void *body, size_t nbody)
{
	struct conn *c = cl->conn;
	uint32_t len = (uint32_t)(nhead + nbody);
	uint8_t before[4] = { (uint8_t)(len >> 24), (uint8_t)(len >> 16),
	    (uint8_t)(len >> 8), (uint8_t)len };

	if (cl->ask.form == TERM_WS_BINARY) {
		ws_send(c->ws, true, head, nhead, body, nbody);
		return;
	}
	conn_write(c, before, sizeof(before));
	conn_write(c, head, nhead);
	conn_write(c, body, nbody);
}

static struct text *
begin_json(void)
{
	text_reset(&json, JSON_MAX);
	return &json;
}

static void
send_json(struct term_client *cl)
{
	if (json.bad)
		cl->conn->dead = true;
	else
		ws_send(cl->conn->ws, false, json.p, json.len, NULL, 0);
}

void
termio_output(struct term_client *cl, uint64_t offset, const void *p,
    size_t n)
{
	uint8_t head[TERM_HEAD_MAX];

	if (is_json(cl)) {
		termjson_bytes(begin_json(), "output", offset, "", 0, p, n);
		send_json(cl);
		return;
	}
	send_binary(cl, head, termmsg_bytes(head, TERM_OUTPUT, offset), p, n);
}

/* A preamble is short: it travels in one piece with the head. */
static void
history_binary(struct term_client *cl, uint64_t offset, const void *p,
    size_t n)
{
	size_t nhead;
	uint8_t *head = malloc(TERM_HEAD_MAX + cl->npreamble);

	if (head == NULL) {
		cl->conn->dead = true;
		return;
	}
	nhead = termmsg_history(head, offset, cl->npreamble);
	if (cl->npreamble > 0)
		memcpy(head + nhead, cl->preamble, cl->npreamble);
	send_binary(cl, head, nhead + cl->npreamble, p, n);
	free(head);
}

void
termio_history(struct term_client *cl, uint64_t offset, const void *p,
    size_t n)
{
	if (is_json(cl)) {
		termjson_bytes(begin_json(), "history", offset,
		    cl->preamble == NULL ? "" : cl->preamble, cl->npreamble,
		    p == NULL ? "" : p, n);
		send_json(cl);
	} else
		history_binary(cl, offset, p, n);
	free(cl->preamble);
	cl->preamble = NULL;
	cl->npreamble = 0;
}

void
termio_lost(struct term_client *cl, uint64_t from, uint64_t to)
{
	uint8_t head[TERM_HEAD_MAX];

	if (is_json(cl)) {
		termjson_lost(begin_json(), from, to);
		send_json(cl);
	} else
		send_binary(cl, head, termmsg_lost(head, from, to), NULL, 0);
}

void
termio_live(struct term_client *cl, uint64_t offset)
{
	uint8_t head[TERM_HEAD_MAX];

	if (is_json(cl)) {
		termjson_live(begin_json(), offset);
		send_json(cl);
	} else
		send_binary(cl, head, termmsg_live(head, offset), NULL, 0);
}

void
termio_size(struct term_client *cl, uint32_t cols, uint32_t rows)
{
	uint8_t head[TERM_HEAD_MAX];

	if (is_json(cl)) {
		termjson_size(begin_json(), cols, rows);
		send_json(cl);
	} else
		send_binary(cl, head, termmsg_size(head, cols, rows), NULL, 0);
}

void
termio_people(struct term_client *cl)
{
	static const uint8_t head[] = { TERM_PEOPLE };
	struct text list = { .max = JSON_MAX / 2 };

	term_list(cl, &list);
	if (list.bad)
		cl->conn->dead = true;
	else if (is_json(cl)) {
		termjson_people(begin_json(), &list);
		send_json(cl);
	} else
		send_binary(cl, head, sizeof(head), list.p, list.len);
	text_free(&list);
}

void
termio_exit(struct term_client *cl)
{
	int32_t code = cl->has_exit_code ? (int32_t)cl->exit_code : -1;
	uint8_t head[TERM_HEAD_MAX];
	char name[16];

	if (is_json(cl)) {
		termjson_exit(begin_json(), code, cl->signal == 0 ? NULL :
		    signal_text(cl->signal, name, sizeof(name)));
		send_json(cl);
	} else
		send_binary(cl, head, termmsg_exit(head, code, cl->signal),
		    NULL, 0);
}

void
termio_error(struct term_client *cl, uint32_t err, const char *message)
{
	const char *code = err_code(err);
	struct text t = { .max = JSON_MAX };
	static const uint8_t head[] = { TERM_ERROR };

	if (is_json(cl)) {
		termjson_error(begin_json(), code, message);
		send_json(cl);
		return;
	}
	text_put(&t, code, strlen(code) + 1);
	text_puts(&t, message);
	send_binary(cl, head, sizeof(head), t.p, t.bad ? 0 : t.len);
	text_free(&t);
}

/* -- in ------------------------------------------------------------------- */

void
termio_message(struct term_client *cl, bool binary, const void *p, size_t n)
{
	struct term_msg m;
	const char *why;

	if (cl->ending)
		return;
	if (binary == is_json(cl)) {
		client_broken(cl, WS_UNSUPPORTED, binary ?
		    "messages are JSON in text here; for others ask for the "
		    "subprotocol lantern.bin.v1" :
		    "messages of lantern.bin.v1 are binary");
		return;
	}
	why = binary ? termmsg_parse(p, n, &m) :
	    termmsg_parse_json(p, n, &m);
	if (why != NULL)
		client_broken(cl, WS_POLICY, why);
	else
		client_heard(cl, &m);
}

/* Reads a message behind its length; false when no whole one has come. */
static bool
read_framed(struct term_client *cl)
{
	struct conn *c = cl->conn;
	const char *p;
	size_t have = conn_unused(c, &p);
	uint32_t len;

	if (have < 4)
		return false;
	len = (uint32_t)(uint8_t)p[0] << 24 | (uint32_t)(uint8_t)p[1] << 16 |
	    (uint32_t)(uint8_t)p[2] << 8 | (uint8_t)p[3];
	if (len == 0 || len > FRAME_MAX) {
		client_broken(cl, WS_POLICY, "a message has 1 to 32768 bytes, and its "
		    "length before it");
		return false;
	}
	if (have - 4 < len)
		return false;
	termio_message(cl, true, p + 4, len);
	conn_skip(c, 4 + (size_t)len);
	return true;
}

void
termio_read(struct term_client *cl)
{
	if (cl->ask.form != TERM_FRAMED)
		(void)ws_read(cl->conn->ws);
	else
		while (!cl->ending && term_has_room(cl) && read_framed(cl))
			continue;
}
