/* SPDX-License-Identifier: ISC */
/* Sessions that were made and never started do not keep others out for ever. */
#ifndef SPAWNER_EVICT_H
#define SPAWNER_EVICT_H

#include <stdbool.h>
#include <stdint.h>

#include "spawner/session/owner.h"

/*
 * Deletes the oldest session that another user than this one made longer than
 * unstarted-timeout ago and has not started.  False when there is none.
 */
bool	 evict_unstarted(const struct owner *);
/* Bytes that are free when all of these have given way. */
uint64_t evictable_bytes(const struct owner *);

#endif
