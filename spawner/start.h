/* SPDX-License-Identifier: ISC */
/* START: from the request to a program that runs. */
#ifndef SPAWNER_START_H
#define SPAWNER_START_H

#include "session.h"

/* Ends a start that is under way; its session is as before. */
void	start_fail(struct session *, enum err, const char *message);
/* The launcher has gone: no start that it was given will be answered. */
void	start_launcher_lost(void);

#endif
