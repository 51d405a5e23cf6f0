/* SPDX-License-Identifier: ISC */
/* Accounts that may have sessions. */
#ifndef DL_ADMIT_H
#define DL_ADMIT_H

#include <stddef.h>

#include "account.h"

/*
 * 0 when the configuration, the account's shell and /etc/shadow let it in; only
 * in system mode may it be otherwise.  If not, -1, and why is a line for the
 * log, with the remedy.  1 when it cannot be told now.
 */
int	admit(const struct account *, char *why, size_t size);

#endif
