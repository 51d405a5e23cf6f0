/* SPDX-License-Identifier: ISC */
/*
 * Assignment under lldb and gdb.  Their own ways to set a variable move
 * references, write over the neighbours of bit fields, cut numbers to size and
 * accept what optimised code does not keep; so values are checked here,
 * assigned by an expression, and read back.
 */
#ifndef DEBUGGER_VIEW_SET_VALUE_H
#define DEBUGGER_VIEW_SET_VALUE_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;
struct op;

/* Borrowed until the function returns. */
struct set_value {
	const char	*code;		/* NULL: it has the value */
	const char	*why;		/* else: words */
	const char	*old, *value, *type;	/* as a print shows them */
};
typedef void	(*set_value_fn)(struct op *, const struct set_value *,
		    void *arg);

/* Whether the adapter has what that takes. */
bool	 set_value_can(void);

/*
 * Assigns the value, an expression, to the target, one of a place, as the
 * frame sees both.  A target that cannot have it keeps what it had.  fn is
 * called once and never before this returns.  op may be NULL.
 */
void	 set_value(struct op *, int64_t frame, const char *target,
	    const char *value, set_value_fn, void *arg);

#endif
