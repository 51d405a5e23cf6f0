/* SPDX-License-Identifier: ISC */
/*
 * A session's debugger or tracer, or what reads symbols for that: its owner's
 * process outside of its sandbox.
 */
#ifndef LAUNCHER_OWNER_INSTRUMENT_H
#define LAUNCHER_OWNER_INSTRUMENT_H

#include "wire/run.h"

struct instrument_spec {
	struct run_owner owner;
	uint32_t	 role;
};

/* An owner_fn; arg is a struct instrument_spec, KEPT_FD2 the binary. */
void	instrument_first(const void *arg) __attribute__((noreturn));

#endif
