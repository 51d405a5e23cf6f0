/* SPDX-License-Identifier: ISC */
/* Access rules of the listeners, as the parent sends them. */
#ifndef DL_RULES_H
#define DL_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoint.h"

struct rule {
	struct endpoint	at;	/* address or wildcard, and port */
	uint32_t	flags;	/* LISTENER_* */
	uint32_t	uid;	/* of everybody, with LISTENER_AUTH_NONE */
};

/*
 * Adds to the set that is being received; -1 when the address is none or
 * there are too many.  Nothing is in force before rules_commit(), which
 * replaces the whole set.
 */
int	rules_add(uint32_t flags, uint32_t uid, const void *sa, size_t len);
void	rules_commit(void);
/* The rule in force for a local address; NULL when no listener fits. */
const struct rule *rules_find(const struct endpoint *local);

/* Whether everybody at some listener is this user. */
bool	 rules_name(uint32_t uid);

#endif
