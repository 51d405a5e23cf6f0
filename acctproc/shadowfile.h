/* SPDX-License-Identifier: ISC */
/* The host's shadow(5) file: is an account locked, or has it expired? */
#ifndef DL_SHADOWFILE_H
#define DL_SHADOWFILE_H

#include <shadow.h>

#include "wire/acct.h"

#define SHADOW_FILE	"/etc/shadow"

/* today: days since 1970, UTC. */
enum acct_state	shadow_judge(const struct spwd *, long today);
/*
 * Opens the file anew, as every change of an account puts another one in its
 * place.  ACCT_UNREAD when that fails, which was logged.
 */
enum acct_state	shadow_look(const char *file, const char *name, long today);

#endif
