/* SPDX-License-Identifier: ISC */
/*
 * Stops that are none: conditions, counts and log points that the adapter
 * does not keep itself, and types of exceptions: bps_check_conditions() of
 * engine.h.
 */
#ifndef DEBUGGER_CONDITION_H
#define DEBUGGER_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

/* Output of our own log points since the latest real stop. */
const char *condition_log(size_t *len, size_t *lost);
/* It was shown. */
void	 condition_log_clear(void);
/* The first time at each stop: hits that the adapter kept are to be counted. */
bool	 condition_count_once(void);
bool	 condition_counted(void);
/* The adapter is gone, and with it what it had not finished. */
void	 condition_forget(void);

#endif
