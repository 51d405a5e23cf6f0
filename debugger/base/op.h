/* SPDX-License-Identifier: ISC */
/* Ops (inst/op.h) of a debugger: their arguments and their one answer. */
#ifndef DEBUGGER_BASE_OP_H
#define DEBUGGER_BASE_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "inst/op.h"
#include "link.h"

/* Why a request is not run, or was not answered; for struct op_rules. */
void	 op_refuse(struct op *, enum op_fault, const char *detail);
/* The answer; only the first counts.  Takes result, adds "schema". */
void	 op_reply(struct op *, struct json_object *result);
void	 op_fail(struct op *, const char *code, const char *, ...)
	    __attribute__((format(printf, 3, 4)));
/* The same with more members beside code and message.  Takes more. */
void	 op_fail_with(struct op *, struct json_object *more, const char *code,
	    const char *, ...) __attribute__((format(printf, 4, 5)));

/*
 * Members of args.  false: it is of a wrong type, or missing although needed,
 * and the op was refused with words.  A missing one leaves *value alone.
 * Strings are borrowed from the op.
 */
bool	 op_string(struct op *, const char *name, bool need, const char **);
bool	 op_int(struct op *, const char *name, bool need, int64_t *);
bool	 op_bool(struct op *, const char *name, bool *);
/* -- answers of the adapter, for ops -- */
struct dap_answer {
	bool		 ok;
	const char	*code;		/* not ok: the op's error code */
	const char	*message;	/* not ok: words, the adapter's or ours */
	struct json_object *body;	/* borrowed; NULL = none */
};

typedef void	(*dap_fn)(struct op *, const struct dap_answer *, void *arg);

/* Refuses the op with what the answer says. */
void	 op_fail_dap(struct op *, const struct dap_answer *);
/* Called once the work is done; why NULL = good, else borrowed words. */
typedef void	(*done_fn)(struct op *, const char *why);


#endif
