/* SPDX-License-Identifier: ISC */
/* Requests of clients: their arguments, their one answer, their end. */
#ifndef TRACER_OP_H
#define TRACER_OP_H

#include <sys/queue.h>

#include "link.h"
#include "params.h"
#include "timeline/store/text.h"

struct json_object;
struct op;

struct command {
	const char	*name;		/* NULL = the end of the table */
	bool		 ro;		/* looks only; readers may */
	enum trc_action	 action;		/* for the audit log */
	void		(*run)(struct op *);
};

struct op {
	TAILQ_ENTRY(op)	 entry;
	struct ask	 ask;
	const struct command *command;
	struct json_object *args;	/* an object, or NULL: none */
	unsigned int	 refs;
	bool		 answered;
};

/*
 * An op lives as long as there is a reference to it.  If the last reference
 * is dropped before an answer, the op is answered with INTERNAL_ERROR.
 */
struct op *op_ref(struct op *);
void	 op_unref(struct op *);
/* The answer, an object; only the first counts.  Frees the text. */
void	 op_reply(struct op *, struct text *);
/* Refuses; next says what to do, NULL = nothing beyond the message. */
void	 op_fail(struct op *, const char *code, const char *next,
	    const char *, ...) __attribute__((format(printf, 4, 5)));
/* As params_read(); on failure the op was refused and false is returned. */
bool	 op_params(struct op *, const struct param *, void *to);
/* False: who asks may only look, and was refused. */
bool	 op_may_change(struct op *);
/* The connection is gone: its requests need no answer any more. */
void	 op_conn_gone(uint32_t conn);

/* Sets the tables of commands, each ended by a row without a name; borrows. */
void	 op_set_commands(const struct command *const *tables, size_t);
/* A request as it came: runs it.  json need not end with NUL. */
void	 commands_run(const struct ask *, const char *json, size_t);

#endif
