/* SPDX-License-Identifier: ISC */
/* START: from the request to a program that runs. */
#ifndef SPAWNER_START_H
#define SPAWNER_START_H

#include <stdbool.h>
#include <stdint.h>

#include "spawner/session/session.h"

/* Ends a start that is under way; its session is as before. */
void	start_fail(struct session *, enum err, const char *message);
/* Tells why not, or settles sandbox and network; the session may be NULL. */
bool	start_allowed(struct asker *, const struct session *,
	    uint32_t *sandbox, uint32_t *network);
/*
 * Starts what a debugger or a tracer has ordered, with start.flags; ran or
 * failed of run_hooks follows.  The order is copied.  With host, it is an
 * adapter without a sandbox, for processes that have none either: of a user's
 * own daemon.
 */
void	start_ordered(struct session *, const struct adapter_order *,
	    uint32_t sandbox, uint32_t network, bool host);
/*
 * True if the start failed because the owner has all processes that the quota
 * allows, which the kernel counts for us: then text says so.
 */
bool	start_used_up(const struct session *, uint32_t step, uint32_t errnum,
	    char *text, size_t size);
/* The launcher has gone: no start that it was given will be answered. */
void	start_launcher_lost(void);

#endif
