/* SPDX-License-Identifier: ISC */
/* The list of recent events, and the audit log. */
#ifndef SPAWNER_ACTIVITY_H
#define SPAWNER_ACTIVITY_H

#include "answer.h"
#include "base/errors.h"
#include "spawner/session/session.h"

/* "<user> <command> <id>: <result>" for a command that was answered. */
void	activity_answer(const struct asker *, const struct sid *, enum err,
	    const char *message);
/* Something that happened to a user's session by itself; id may be NULL. */
void	activity_note(struct owner *, const struct sid *,
	    const char *what, ...) __attribute__((format(printf, 3, 4)));

#endif
