/* SPDX-License-Identifier: ISC */
/* Settings of a session by its user: arguments, variables, label, limits. */
#ifndef SPAWNER_VARS_H
#define SPAWNER_VARS_H

#include "spawner/session/session.h"

/*
 * Sets a variable or the label; -> ERR_OK, or an error whose explanation is
 * in why, empty = the code says it all.
 */
enum err vars_put(struct session *, const char *key, const char *value,
	    char *why, size_t);
enum err vars_label(struct session *, const char *label, char *why, size_t);
/* May the user keep so many more bytes of arguments and variables? */
bool	vars_have_room(const struct owner *, size_t more);
/* Does the session set this variable itself? */
bool	vars_has(const struct session *, const char *key);

#endif
