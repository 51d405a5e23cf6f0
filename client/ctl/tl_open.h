/* SPDX-License-Identifier: ISC */
/* A timeline, wherever it is: with the tracer of a session, or in files. */
#ifndef CLIENT_CTL_TL_OPEN_H
#define CLIENT_CTL_TL_OPEN_H

#include <json-c/json.h>

#include "trc_ask.h"

struct client;
struct store;

struct timeline {
	struct client		*client;
	struct trc_to		 to;
	struct store		*store;	/* NULL: the tracer has it */
	struct shapes		*shapes;	/* what its values look like */
	struct json_object	*status;	/* the tracer's, else NULL */
};

/*
 * Finds it: a file if word is a path or there is one of that name, else a
 * session, else a kept timeline of that name.  An exit code, after a report
 * unless it is CTL_OK; then tl_shut() is for it.
 */
int	tl_reach(struct timeline *, struct client *, const char *word);
void	tl_shut(struct timeline *);

/*
 * "query" or "sql", or what else the tracer is asked; takes args, the result
 * is the caller's to put. As trc_try(), also of files.
 */
int	timeline_try(struct timeline *, const char *request,
	    struct json_object *args, struct json_object **resultp);
/* As trc_ask(). */
int	timeline_ask(struct timeline *, const char *request,
	    struct json_object *args, struct json_object **resultp);

/* Hands an export to write, piece by piece; query is borrowed. 0 from write
 * goes on, else it has reported and says the exit code. */
int	timeline_export(struct timeline *, const char *format,
	    struct json_object *query,
	    int (*write)(void *arg, const void *, size_t), void *arg);

#endif
