/* SPDX-License-Identifier: ISC */
/* A session's debugger: its owner's process outside of its sandbox. */
#ifndef LAUNCHER_INSTRUMENT_H
#define LAUNCHER_INSTRUMENT_H

#include "run.h"

struct instrument_spec {
	struct run_owner owner;
	uint64_t	 processes;	/* of all of his */
};

/* A flight_fn; arg is a struct instrument_spec, KEPT_FD2 the binary. */
void	instrument_first(const void *arg) __attribute__((noreturn));

#endif
