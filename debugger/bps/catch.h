/* SPDX-License-Identifier: ISC */
/* Catchpoints: stops at panics and at what is thrown. */
#ifndef DEBUGGER_BPS_CATCH_H
#define DEBUGGER_BPS_CATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bpsend.h"
#include "debugger/base/command.h"

struct exception;
struct json_object;

extern const struct command catch_commands[];

/* Kinds of catchpoints, as commands and editors name them. */
struct catch_kind {
	const char	*name;
	const char	*label;		/* for people */
	bool		 typed;		/* may be about one type */
};
extern const struct catch_kind catch_kinds[];	/* until name is NULL */

/* Can the adapter do that?  If none is there, one may. */
bool	 catch_possible(const char *kind);
/* The kind that the adapter's own filter stands for; else that name. */
const char *catch_kind_of(const char *filter);
/* Whether a catchpoint is there, and does what it is for. */
bool	 catch_there(int64_t id, bool *verified);
/* Why it does not, borrowed; or NULL. */
const char *catch_message(int64_t id);

/* Before the program runs: all of them, with what the adapter does unasked. */
void	 catch_configure(struct op *, bpsend_fn, void *arg);
/* An event about a breakpoint, which may be a filter of the adapter's. */
void	 catch_event(struct json_object *body);
/* Is there one that is about a type? */
bool	 catch_has_types(void);
/* Does anybody want to stop at this? */
bool	 catch_wants(const struct exception *);
/* Adds the ids of those that this stop is about. */
void	 catch_hits(const struct exception *, struct json_object *ids);
bool	 catch_any(void);

#endif
