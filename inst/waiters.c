/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

#include "base/log.h"
#include "waiters.h"

struct waiter *
waiter_add(struct waiters *list, struct op *op)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (w == NULL)
		fatal("request");
	w->op = op_ref(op);
	TAILQ_INSERT_TAIL(list, w, entry);
	return w;
}

struct waiter *
waiter_of(const struct waiters *list, const struct op *op)
{
	struct waiter *w;

	TAILQ_FOREACH(w, list, entry)
		if (w->op == op)
			return w;
	return NULL;
}

void
waiter_drop(struct waiters *list, struct waiter *w)
{
	TAILQ_REMOVE(list, w, entry);
	loop_timer_unset(&w->timer);
	op_unref(w->op);
	free(w);
}
