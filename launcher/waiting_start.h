/* SPDX-License-Identifier: ISC */
/*
 * Orders whose cgroup the last process of an earlier run is still leaving:
 * each is given again until it is free, and nobody else waits meanwhile.
 */
#ifndef LAUNCHER_WAITING_START_H
#define LAUNCHER_WAITING_START_H

#include <sys/types.h>

#include <stdbool.h>

#include "wire/msg.h"

/*
 * Copies the order, as it came, and its fd; its handler gets it again.  False
 * with EBUSY when it has waited long enough, or as many wait.
 */
bool	 waiting_start_add(const struct msg *, uid_t owner);

#endif
