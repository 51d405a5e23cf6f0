/* SPDX-License-Identifier: ISC */
/* A session's debugger: its owner's process outside of its sandbox. */
#ifndef LAUNCHER_INSTRUMENT_H
#define LAUNCHER_INSTRUMENT_H

/* A flight_fn; arg is a struct run_owner, KEPT_FD2 the binary. */
void	instrument_first(const void *arg) __attribute__((noreturn));

#endif
