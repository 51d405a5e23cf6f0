/* SPDX-License-Identifier: ISC */
/* Things that a run lacks although its owner may expect them. */
#ifndef SPAWNER_WARN_H
#define SPAWNER_WARN_H

#include "spawner/session/session.h"

/* Puts the warnings of the run that begins into the session's view. */
void	 warn_fill(struct session *);

#endif
