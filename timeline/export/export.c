/* SPDX-License-Identifier: ISC */
/* Running an export: events are read, formatted and written piece by piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export_int.h"

#define PIECE	((size_t)128 << 10)

const char *
export_name(const struct store *st, uint32_t fn)
{
	const struct function *f = function_of(st, fn);

	return f == NULL ? "?" : f->name;
}

static void
flush(struct export *x, size_t more_than)
{
	if (x->out.bad)
		x->failed = true;
	if (x->out.len <= more_than || x->failed)
		return;
	if (x->to->write(x->to->arg, x->out.p, x->out.len) == -1)
		x->failed = true;
	text_reset(&x->out, SIZE_MAX);
}

static int
run(struct export *x, struct filter *f, const struct export_format *format)
{
	struct place first = { 0, 0, 0 };
	/* else what comes in meanwhile could keep it going for ever */
	struct cursor *c = cursor_open(f, &first, x->st->latest_ts);
	struct seen ev;

	if (c == NULL)
		return -1;
	if (format->begin != NULL)
		format->begin(x);
	while (!x->failed && cursor_next(c, &ev) == 1) {
		format->event(x, &ev);
		flush(x, PIECE);
	}
	if (format->end != NULL && !x->failed)
		format->end(x);
	flush(x, 0);
	/* stacks know threads, which stay as long as the cursor is open */
	stacks_free(&x->stacks);
	cursor_close(c);
	return x->failed ? -1 : 0;
}

int
export_run(struct store *st, const struct query *q,
    const struct export_to *to, const struct export_format *format,
    void *state, char why[STORE_WHY])
{
	struct export *x = calloc(1, sizeof(*x));
	struct filter f;
	int ret;

	store_flush(st);
	if (x == NULL) {
		snprintf(why, STORE_WHY, "no memory");
		return -1;
	}
	if (filter_make(st, q, &f, why) == -1) {
		free(x);
		return -1;
	}
	x->st = st;
	x->to = to;
	x->state = state;
	x->out.max = TEXT_MAX;
	if ((ret = run(x, &f, format)) == -1)
		snprintf(why, STORE_WHY, "the export was not taken whole");
	filter_free(&f);
	text_free(&x->out);
	free(x);
	return ret;
}
