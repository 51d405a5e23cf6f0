/* SPDX-License-Identifier: ISC */
/*
 * Stops that are none: conditions, counts and log points that the adapter
 * does not keep itself, and types of exceptions.  bps_judge() of engine.h.
 */
#ifndef DEBUGGER_JUDGE_H
#define DEBUGGER_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

/* Output of our own log points since the latest real stop. */
const char *judge_log(size_t *len, size_t *lost);
/* It was shown. */
void	 judge_log_clear(void);
/* The first time at each stop: hits that the adapter kept are to be counted. */
bool	 judge_count_once(void);
bool	 judge_counted(void);
/* The adapter is gone, and with it what it had not finished. */
void	 judge_forget(void);

#endif
