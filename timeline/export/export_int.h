/* SPDX-License-Identifier: ISC */
/* Common part of the exports: visits all events that match, one by one. */
#ifndef TIMELINE_EXPORT_INT_H
#define TIMELINE_EXPORT_INT_H

#include "export.h"
#include "export_stack.h"

struct export {
	struct store *st;
	const struct export_to *to;
	struct text out;		/* written when it has grown */
	struct stacks stacks;
	bool	 failed;
	void	*state;			/* the format's own */
};

struct export_format {
	void	(*begin)(struct export *);
	void	(*event)(struct export *, const struct seen *);
	void	(*end)(struct export *);
};

/* Runs a format over the events of a query.  -1 with words. */
int	 export_run(struct store *, const struct query *,
	    const struct export_to *, const struct export_format *,
	    void *state, char why[STORE_WHY]);
const char *export_name(const struct store *, uint32_t fn);

#endif
