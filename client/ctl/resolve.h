/* SPDX-License-Identifier: ISC */
/* Targets by what is known and announced. */
#ifndef CLIENT_CTL_RESOLVE_H
#define CLIENT_CTL_RESOLVE_H

struct target;

/*
 * Turns TARGET_HOST into how it is reached now, and gives a TLS target
 * without a port the one that is known for it. An exit code, after a report
 * unless it is CTL_OK.
 */
int	target_resolve(struct target *);

#endif
