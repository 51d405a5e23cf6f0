/* SPDX-License-Identifier: ISC */
/* Ops (inst/op.h) of a tracer: their arguments and their one answer. */
#ifndef TRACER_OP_H
#define TRACER_OP_H

#include "base/text.h"
#include "inst/op.h"
#include "inst/waiters.h"
#include "link.h"
#include "params.h"

/* The answer, an object; only the first counts.  Frees the text. */
void	 trace_reply(struct op *, struct text *);
/* Refuses; next says what to do, NULL = nothing beyond the message. */
void	 trace_fail(struct op *, const char *code, const char *next,
	    const char *, ...) __attribute__((format(printf, 4, 5)));
/* As params_read(); on failure the op was refused and false is returned. */
bool	 op_params(struct op *, const struct param *, void *to);
/* False: who asks may only look, and was refused. */
bool	 op_may_change(struct op *);
/* Refuses all of them. */
void	 waiters_fail(struct waiters *, const char *code, const char *next,
	    const char *words);

/*
 * Sets the tables of commands, whose own is an enum trc_action, for the audit
 * log.  Borrows them.
 */
void	 tracer_commands(const struct command *const *tables, size_t);

#endif
