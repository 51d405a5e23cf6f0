/* SPDX-License-Identifier: ISC */
/* AUDIT: a page of events, or the wait for the next one. */
#include "audit.h"
#include "command.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"

#define WAIT_MAX_S	60

static const char *const keys[] = {
	"time", "user", "door", "address", "session", "action", "result"
};

static void
audit_failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	(void)a;
	answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

void
cmd_audit(struct conn *c, struct rsession *s, const struct words *ws)
{
	uint64_t from = 0, seconds = 0;
	struct msg_out *o;

	(void)s;
	if (ws->n > 1 && number_parse(&ws->w[1], INT64_MAX, &from) != NULL) {
		command_misused(c, ws, "<number> is a plain decimal number");
		return;
	}
	if (ws->n > 2 && number_parse(&ws->w[2], WAIT_MAX_S, &seconds) !=
	    NULL) {
		command_misused(c, ws, "<seconds> is 0 to 60");
		return;
	}
	o = ask_new(c, MSG_AUDIT, NULL);
	msg_put_u64(o, from);
	msg_put_u32(o, (uint32_t)seconds);
	ask_send(c, o, (struct ask){ .fn = audit_failed });
}

static void
audit_event_json(struct text *t, uint64_t number, struct msg *m)
{
	const void *p;
	size_t i, len;

	json_open(t, '{');
	json_key(t, "seq");
	json_u64(t, number);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		p = msg_get_blob(m, &len);
		json_key(t, keys[i]);
		if (len == 0)
			json_raw(t, "null");
		else
			json_string(t, p, len);
	}
	json_close(t, '}');
}

int
net_on_audit_lines(struct msg *m)
{
	uint64_t from = msg_get_u64(m);
	uint32_t n = msg_get_u32(m), i;
	struct text *t = answer_begin();
	struct conn *c = ask_find(m);

	json_open(t, '{');
	json_key(t, "events");
	json_open(t, '[');
	for (i = 0; i < n && !m->bad; i++)
		audit_event_json(t, from + i, m);
	json_close(t, ']');
	json_key(t, "next");
	json_u64(t, from + n);
	json_close(t, '}');
	if (msg_end(m) == -1)
		return -1;
	if (c == NULL)
		return 0;
	if (ask_state(c)->fn != audit_failed)
		return -1;
	conn_enter(c, &mode_line);
	answer_end(c);
	conn_run(c);
	return 0;
}
