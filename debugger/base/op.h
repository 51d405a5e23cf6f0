/* SPDX-License-Identifier: ISC */
/* Ops: one request of one client each, its arguments and its one answer. */
#ifndef DEBUGGER_BASE_OP_H
#define DEBUGGER_BASE_OP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "link.h"

struct command;
struct json_object;

struct op {
	TAILQ_ENTRY(op)	 entry;
	struct ask	 ask;		/* who wants to know */
	unsigned int	 refs;
	bool		 answered;
	const struct command *command;
	struct json_object *args;	/* an object, never NULL */
	char		*warning;	/* of the frame it looks at; or NULL */
	/* an op of our own: who is told instead of a client; borrows */
	void		(*told)(struct op *, bool failed, struct json_object *);
	void		*told_data;
	/* the handler's own: a small number, and memory freed with the op */
	uint64_t	 word;
	void		*data;
	void		(*free_data)(void *);
	int64_t		 once;		/* its breakpoint of bps_until(), or 0 */
	/* called when it was answered, or its client has gone; may free it */
	void		(*finished)(struct op *);
};

/*
 * An op lives as long as it is held.  Code that waits for something on its
 * behalf holds it; adapter_ask() does so for its caller.  An op that is no
 * longer held and was not answered answers "internal_error" itself.
 */
struct op *op_ref(struct op *);
void	 op_unref(struct op *);
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


/* Takes args; one reference is the caller's. */
struct op *op_new(const struct ask *, const struct command *,
	    struct json_object *args);
/* The client has disconnected: its ops go on without being answered. */
void	 op_conn_gone(uint32_t conn);

#endif
