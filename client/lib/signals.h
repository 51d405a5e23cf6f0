/* SPDX-License-Identifier: ISC */
/* Which signals are ours to act on. */
#ifndef CLIENT_LIB_SIGNALS_H
#define CLIENT_LIB_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* False if the signal was ignored at our start: it must stay ignored. */
bool	signal_wanted(int signo);

/*
 * Blocks those of n signals that are wanted and returns a signalfd of them,
 * close-on-exec and non-blocking, which the caller owns; -1 and errno.
 */
int	signals_take(const int *signos, size_t n);

#endif
