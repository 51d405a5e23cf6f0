/* SPDX-License-Identifier: ISC */
/*
 * Stops that are none: conditions, counts and log points that the adapter
 * does not keep itself, and types of exceptions.
 */
#ifndef DEBUGGER_BPS_CONDITION_H
#define DEBUGGER_BPS_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/*
 * At every stop, before anybody hears of it: conditions and counts that the
 * adapter does not keep itself.  done(true) = it is none, the program is let
 * go on.  done may be called from within.
 */
void	 bps_check_conditions(void (*done)(bool resume));
/* The program goes on: the next stop is another one. */
void	 bps_resumed(void);
/* The program has not gone on after all: its stop is the one before. */
void	 bps_stayed(void);
/* An event "output" of the adapter; log points speak by it.  Borrows. */
void	 bps_log_event(struct json_object *body);
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
