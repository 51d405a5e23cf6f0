/* SPDX-License-Identifier: ISC */
/*
 * Probes: patterns choose functions to trace, in each traced process and in
 * everything that it has loaded.  Changes are made at once where all is known;
 * otherwise the processes that read binaries are asked first, and the client is
 * told when its change has taken effect.
 */
#ifndef TRACER_PROBING_H
#define TRACER_PROBING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "tracer/record/process.h"

#define PATTERNS_MAX	256
#define PROBING_WHY	512

struct json_object;

/* Functions that a request asks for.  All are arrays of strings or NULL. */
struct trace_request {
	struct json_object *add, *addresses, *remove;
	const char	*root;		/* of the project; NULL = not given */
	bool		 raw;		/* also without debug information */
	bool		 has_budget;
	uint32_t	 budget;	/* calls a second, 0 = no limit */
};

/*
 * Whether all patterns of it are valid, and not too many.  -1 with an error
 * code, static, and words.
 */
int	 trace_request_check(const struct trace_request *, const char **code,
	    char why[PROBING_WHY]);
/* Makes it so, as far as that is known; after trace_request_check(). */
void	 trace_request_apply(const struct trace_request *);
/* Whether all that was asked for is there, or known not to be. */
bool	 probing_settled(void);
/*
 * The request's patterns have chosen nothing, in a program without debug
 * information: they are taken back, and words say so.  false: it is not so.
 */
bool	 trace_request_was_vain(const struct trace_request *);

/* Parts above, which hear of it. */
struct probing_observer {
	/* patterns may be settled now */
	void	(*settled)(void);
	/* a process goes on without all of its probes */
	void	(*let_go)(void);
	/* words that the program's root is missing here, borrowed; or NULL */
	const char *(*root_missing)(void);
};

/* First of all; borrows. */
void	 probing_init(const struct probing_observer *);
/* To be said with what is so. */
void	 probing_warn(const char *);
/* The usual budget; 0 = no limit. */
void	 probing_budget(uint32_t);
/* Schedules the pending work on processes that have changed. */
void	 probing_kick(void);
/* Processes that are held go on as soon as may be; user: not this one. */
void	 probing_hold(bool main_too);
/* How many functions are traced. */
uint32_t probing_hooked(void);
/* Adds "activePatterns":[..],"hookedFunctions":n and so on, no braces. */
void	 probing_state(struct text *);
/*
 * Adds ,"warnings":[..] if there are any; first: one more, or NULL.  all: also
 * what probing_state() says elsewhere.
 */
void	 probing_warnings(struct text *, const char *first, bool all);
/* Adds ,"warnings":[..] of what could not be read of binaries, if any. */
void	 probing_debuginfo(struct text *);
/*
 * The session's program is about to be let go of as it has ended: what
 * probing_state() says from now on is what it says now.
 */
void	 probing_remember(void);
/* How many functions it says are traced. */
uint32_t probing_shown(void);
/* ["a::*",..] */
void	 probing_patterns(struct text *);
/* Adds [{"function":..,"calls":n,"skipped":n}..], at most 100. */
void	 probing_functions(struct text *);
/* Adds [{"function":..,"skipped":n}..] of those that were sampled. */
void	 probing_sampled(struct text *);
/* Why it was not traced when that was tried; NULL = it was not. */
const char *probing_why_not(uint32_t fn);

#endif
