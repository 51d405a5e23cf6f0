/* SPDX-License-Identifier: ISC */
/* What a user sets on a session: arguments, variables, label, limits. */
#ifndef SPAWNER_VARS_H
#define SPAWNER_VARS_H

#include "session.h"

/* Does the session set this variable itself? */
bool	vars_has(const struct session *, const char *key);

#endif
