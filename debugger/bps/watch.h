/* SPDX-License-Identifier: ISC */
/* Watchpoints: stops when memory is written or read. */
#ifndef DEBUGGER_BPS_WATCH_H
#define DEBUGGER_BPS_WATCH_H

#include "debugger/base/command.h"

struct json_object;

extern const struct command watch_commands[];

/* A new run: what was at those addresses is elsewhere now. */
void	 watch_forget(void);
/*
 * Which ones the present stop is about, and what their memory holds now;
 * done is called once, perhaps before this returns.
 */
void	 watch_gather(int64_t frame, void (*done)(void));
/* Adds the ids of those to ids, and {"name","old","new"} to changed. */
void	 watch_hits(struct json_object *ids, struct json_object *changed);

#endif
