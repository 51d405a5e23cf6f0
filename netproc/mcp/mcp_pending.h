/* SPDX-License-Identifier: ISC */
/*
 * Patterns that wait for a user's next program.  They are few, and of few
 * users: the user who has not changed them for the longest time loses them.
 */
#ifndef DL_NET_MCP_PENDING_H
#define DL_NET_MCP_PENDING_H

#include <stdbool.h>

#include "base/json.h"
#include "netproc/text/line.h"

struct owner;

/*
 * Adds and removes, arrays of strings in JSON or empty.  NULL, or what is
 * wrong: nothing has changed then.
 */
const char *pending_change(const struct owner *, const struct word *add,
    const struct word *remove);
/* The array of them. */
void	 pending_json(struct text *, const struct owner *);
bool	 pending_any(const struct owner *);
/*
 * Copies the patterns that a launch takes; free *had.  When the program runs,
 * pending_done() drops these, but not patterns that were added meanwhile.
 */
void	 pending_had(const struct owner *, struct text *had);
void	 pending_done(const struct owner *, const struct text *had);

#endif
