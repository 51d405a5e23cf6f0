/* SPDX-License-Identifier: ISC */
/* Facts about the host, from /proc/sys. */
#ifndef LAUNCHER_OBSERVER_FACTS_READ_H
#define LAUNCHER_OBSERVER_FACTS_READ_H

#include <stdbool.h>
#include <stddef.h>

/* The limits of processes; once, before the observer has its own. */
void	facts_read_rlimits(void);
/* Reads what the host has, and what a user has of it. */
void	facts_read(void);
/* For DEPS: what a user has, and whether it is enough and held to. */
bool	facts_users_part(char *form, size_t size);

#endif
