/* SPDX-License-Identifier: ISC */
/* Clients that wait for the program to stop: any number, each with a limit. */
#ifndef DEBUGGER_STOP_WAIT_H
#define DEBUGGER_STOP_WAIT_H

#include "debugger/base/op.h"

/*
 * Holds op until there is a stop (or the end) newer than epoch since, then
 * answers it with the summary; after ms with "still running".  Called before
 * whatever makes the program run is written.
 */
void	 wait_add(struct op *, uint64_t since, uint64_t ms);
/*
 * The limit of a request: its timeout_s, or the configured one, for a stop
 * that the program comes to or (asked) for one that was asked of it.  false =
 * refused.
 */
bool	 wait_limit(struct op *, bool asked, uint64_t *ms);
/* Both in seconds. */
void	 wait_init(uint32_t await_s, uint32_t request_s);
/* The same wait, for a later stop. */
void	 wait_renew(struct op *, uint64_t since);
/* A stop or the end is known in full: answers whom it concerns. */
void	 wait_settle(void);
/* The latest stop is none: answers the clients whose time is over. */
void	 wait_goes_on(void);
/* Whether the program is at rest: stopped, ended or not there. */
bool	 wait_at_rest(void);

#endif
