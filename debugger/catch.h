/* SPDX-License-Identifier: ISC */
/* Catchpoints: stops at panics and at what is thrown. */
#ifndef DEBUGGER_CATCH_H
#define DEBUGGER_CATCH_H

#include <stdbool.h>

#include "bpsend.h"
#include "commands.h"

struct exc;
struct json_object;

extern const struct command catch_commands[];

/* Before the program runs: all of them, with what the adapter does unasked. */
void	 catch_configure(struct op *, bpsend_fn, void *arg);
/* Is there one that is about a type? */
bool	 catch_has_types(void);
/* Does anybody want to stop at this? */
bool	 catch_wants(const struct exc *);
/* Adds the ids of those that this stop is about. */
void	 catch_hits(const struct exc *, struct json_object *ids);
bool	 catch_any(void);

#endif
