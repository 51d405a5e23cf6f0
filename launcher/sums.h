/* SPDX-License-Identifier: ISC */
/*
 * Resources of which the host has a sum for all users, and a session's part of
 * it, so that many sessions do not use it up.
 */
#ifndef LAUNCHER_SUMS_H
#define LAUNCHER_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads what the host has, from /proc/sys. */
void		 sums_read(void);
/* Pseudo terminals of a session, its own one included; with a terminal or not. */
unsigned int	 sums_terminals(bool tty);

#endif
