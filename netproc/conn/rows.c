/* SPDX-License-Identifier: ISC */
/* Answers whose rows come in parts. */
#include "answer.h"
#include "ask.h"
#include "rows.h"

/* An answer that has begun cannot become an error. */
static void
failed(struct conn *c, struct ask *a, uint32_t err, const char *msg)
{
	if (a->begun)
		c->dead = true;
	else
		answer_error(c, err == ERR_OK ? ERR_INTERNAL : err, msg);
}

void
rows_ask(struct conn *c, struct msg_out *o, row_fn row)
{
	ask_send(c, o, (struct ask){ .fn = failed, .row = row });
}

static void
write_part(struct conn *c, struct text *t, bool more)
{
	if (!more)
		text_puts(t, "]");
	if (!ask_state(c)->begun)
		answer_open(c);
	answer_piece(c);
	ask_state(c)->begun = true;
	if (more)
		return;
	conn_enter(c, &mode_line);
	answer_close(c);
}

int
rows_part(struct msg *m, row_fn row)
{
	struct conn *c = ask_find(m);
	struct text *t = answer_begin();
	uint32_t n = msg_get_u32(m), i, more;
	bool first = c == NULL || !ask_state(c)->begun;

	if (first)
		text_puts(t, "[");
	for (i = 0; i < n && !m->bad; i++) {
		if (!first || i > 0)
			text_puts(t, ",");
		row(t, m);
	}
	more = msg_get_u32(m);
	if (msg_end(m) == -1 || (n == 0 && more != 0))
		return -1;
	if (c == NULL)
		return 0;
	if (ask_state(c)->fn != failed || ask_state(c)->row != row)
		return -1;
	write_part(c, t, more != 0);
	conn_run(c);
	return 0;
}
