/* SPDX-License-Identifier: ISC */
/* Is an account locked, or has it expired?  acctproc knows. */
#ifndef DL_ACCTASK_H
#define DL_ACCTASK_H

#include <stdint.h>

#include "wire/acct.h"

void	acctask_init(void);
/* A channel to acctproc is there (again): takes fd. */
void	acctask_peer(int fd, uint32_t generation);
/*
 * Waits for the answer, a moment at most: ACCT_UNREAD without one.  ACCT_GOOD
 * in user mode and on hosts where nobody may read what acctproc would.
 */
enum acct_state	acct_ask(const char *name);

#endif
