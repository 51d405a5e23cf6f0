/* SPDX-License-Identifier: ISC */
/* Accounts that may have sessions. */
#ifndef DL_ADMIT_H
#define DL_ADMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "account.h"

/*
 * Whether the configuration and the account's shell let it in; only in system
 * mode may it be otherwise.  If not, why is a line for the log, with the
 * remedy.
 */
bool	admit(const struct account *, char *why, size_t size);

#endif
