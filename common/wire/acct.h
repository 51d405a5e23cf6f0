/* SPDX-License-Identifier: ISC */
/* An account's state by /etc/shadow: acctproc finds it out, others act. */
#ifndef DL_ACCT_H
#define DL_ACCT_H

#include <stdbool.h>
#include <stdint.h>

/* ACCT_IS */
enum acct_state {
	ACCT_GOOD,		/* or nobody asks: user mode */
	ACCT_LOCKED,		/* its password, by passwd -l or usermod -L */
	ACCT_EXPIRED,		/* its last day is over */
	ACCT_INACTIVE,		/* its password expired too long ago */
	ACCT_UNKNOWN,		/* no entry: the account is a directory's */
	ACCT_UNREAD,		/* cannot be told now */
	ACCT_COUNT
};

/* It is shut out. */
bool	 acct_is_shut(uint32_t state);
/* In the flags of PEER_IS and ACCOUNT: a place for it, above all others. */
uint32_t acct_to_flags(uint32_t state);
uint32_t acct_of_flags(uint32_t flags);
/* "is locked" and the like, and the command, without the name, that opens it. */
const char *acct_what(uint32_t state);
const char *acct_remedy(uint32_t state);
/* Both for the account's own user, of one that is shut. */
const char *acct_fault(uint32_t state);

#endif
