/* SPDX-License-Identifier: ISC */
/* Output and crashes: rows of their own, never evicted, limited in bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "store_int.h"

#define ROW_COST	64U	/* what a row takes beside its bytes */
#define CRASHES_MAX	4096U	/* a program may fork to crash for ever */

static const struct store_writer nobody = {.name = ""};

static void
add(struct store *st, uint64_t ts, enum event_kind kind,
    const struct store_writer *by, const char *body, size_t len)
{
	struct pending *row;

	if (kind != EVENT_CRASH) {
		if (st->output_bytes + len + ROW_COST > st->limits.output) {
			st->lost_bytes += len;
			return;
		}
		st->output_bytes += len + ROW_COST;
	} else if (st->ntexts[EVENT_CRASH] >= CRASHES_MAX) {
		return;
	}
	if ((row = malloc(sizeof(*row) + len)) == NULL) {
		st->lost_bytes += len;
		return;
	}
	*row = (struct pending){.kind = (uint8_t)kind,
	    .tid = by->tid,
	    .ts = ts,
	    .id = st->next_text++,
	    .parent = by->parent,
	    .len = len};
	(void)snprintf(row->name, sizeof(row->name), "%s", by->name);
	if (len > 0)
		memcpy(row->body, body, len);
	st->ntexts[kind]++;
	if (ts > st->latest_ts)
		st->latest_ts = ts;
	st->collected++;
	db_queue(st, row);
}

/* Puts what was held back before what comes now; owned. */
static char *
join(struct store *st, int which, const void *data, size_t *len)
{
	size_t held = st->tails[which].len;
	char *s = malloc(held + *len + 1);

	if (s == NULL)
		return NULL;
	memcpy(s, st->tails[which].s, held);
	memcpy(s + held, data, *len);
	*len += held;
	st->tails[which].len = 0;
	return s;
}

static void
hold(struct tail *t, uint64_t ts, const struct store_writer *by, const char *s,
    size_t len)
{
	memcpy(t->s, s, len);
	t->len = len;
	t->ts = ts;
	t->tid = by->tid;
	t->parent = by->parent;
	(void)snprintf(t->name, sizeof(t->name), "%s", by->name);
}

void
store_output(struct store *st, uint64_t ts, enum event_kind kind,
    const struct store_writer *by, const void *data, size_t len)
{
	int which = kind == EVENT_STDERR;
	char *s = len == 0 ? NULL : join(st, which, data, &len);
	size_t at, n, part;

	if (s == NULL)
		return;
	if (by == NULL)
		by = &nobody;
	for (at = 0; at < len; at += n) {
		part = len - at < STORE_TEXT_MAX ? len - at : STORE_TEXT_MAX;
		n = part - utf8_unfinished(s + at, part);
		if (n == 0) {
			hold(&st->tails[which], ts, by, s + at, part);
			break;
		}
		add(st, ts, kind, by, s + at, n);
	}
	free(s);
}

void
store_output_lost(struct store *st, uint64_t n)
{
	int i;

	/* the rest of a character that has begun is among them */
	texts_end(st);
	for (i = 0; i < 2; i++)
		st->tails[i].len = 0;
	st->lost_bytes += n;
}

void
texts_end(struct store *st)
{
	const struct tail *t;
	int i;

	for (i = 0; i < 2; i++) {
		t = &st->tails[i];
		if (t->len > 0)
			add(st, t->ts, i == 0 ? EVENT_STDOUT : EVENT_STDERR,
			    &(struct store_writer){t->tid, t->parent, t->name},
			    t->s, t->len);
	}
}

void
store_crash(struct store *st, uint64_t ts, uint32_t tid, const char *json,
    size_t len)
{
	const struct store_writer by = {.tid = tid, .name = ""};
	struct text t = { .max = 8 * STORE_TEXT_MAX };

	if (len > STORE_TEXT_MAX)
		len = STORE_TEXT_MAX -
		    utf8_unfinished(json, STORE_TEXT_MAX);
	if (json_is_object(json, len)) {
		add(st, ts, EVENT_CRASH, &by, json, len);
		return;
	}
	text_puts(&t, "{\"said\":");
	json_quoted(&t, json, len);
	text_puts(&t, "}");
	if (!t.bad)
		add(st, ts, EVENT_CRASH, &by, t.p, t.len);
	text_free(&t);
}
