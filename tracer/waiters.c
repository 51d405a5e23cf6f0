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

void
waiter_drop(struct waiters *list, struct waiter *w)
{
	TAILQ_REMOVE(list, w, entry);
	op_unref(w->op);
	free(w);
}

void
waiters_fail(struct waiters *list, const char *code, const char *next,
    const char *words)
{
	struct waiter *w;

	while ((w = TAILQ_FIRST(list)) != NULL) {
		op_fail(w->op, code, next, "%s", words);
		waiter_drop(list, w);
	}
}
