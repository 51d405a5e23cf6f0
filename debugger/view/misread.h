/* SPDX-License-Identifier: ISC */
/*
 * Functions that lldb unwinds by wrong rules.  gcc moves the code of a function
 * that rarely runs elsewhere (".cold").  lldb before version 20 takes all from
 * the lowest part to the highest for one function, and unwinds it by the rules
 * of the lowest part, as well as functions between the parts that it meets
 * later.  The caller's registers, and variables in the stack, are wrong then.
 */
#ifndef DEBUGGER_VIEW_MISREAD_H
#define DEBUGGER_VIEW_MISREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct op;

/* Remedies that Debian 12 and 13 have. */
#define MISREAD_REMEDY	"lldb 20 or later reads it right: apt-get install " \
    "lldb-22; or build with -fno-reorder-blocks-and-partition or -O0"

#define MISREAD_MOST	4096	/* functions; then all are forgotten */

/* lldb's answer about the code at an address. */
struct misread_code {
	uint64_t	 from, to;	/* the part that has the address */
	uint64_t	 low, high;	/* what lldb takes for the function */
	bool		 joined;	/* that joins several parts */
};

/* Reads what `image lookup -v -a` prints; without a function, of at alone. */
void	 misread_read(struct misread_code *, const char *text, uint64_t at);

/*
 * Asks lldb about the code of each frame that was not met before.  frames are
 * the adapter's, borrowed, the first of them at index `first` of its stack.
 * fn is called once, perhaps before this returns.
 */
void	 misread_learn(struct op *, struct json_object *frames, size_t first,
	    void (*fn)(void *), void *arg);
/*
 * The first of the first n frames that is unwound wrongly, n = none: this
 * frame's variables and all that follows are not to be trusted.
 */
size_t	 misread_frame(struct json_object *frames, size_t n, size_t first);
/* The number of that frame's function, below MISREAD_MOST. */
size_t	 misread_number(struct json_object *frames, size_t i, size_t first);
/* A warning about that frame, for people; the caller frees it. */
char	*misread_words(struct json_object *frames, size_t i);
/*
 * Replaces a number that lldb of any version reads wrongly, "value" or "result"
 * of a variable or an evaluated expression, by how to ask for it.  name: the
 * expression; NULL = the variable's own.
 */
void	 misread_mend(struct json_object *dap, const char *name);
/* Another adapter has met nothing yet. */
void	 misread_forget(void);

#endif
