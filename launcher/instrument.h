/* SPDX-License-Identifier: ISC */
/*
 * A session's debugger or tracer, or what reads symbols for that: its owner's
 * process outside of its sandbox.
 */
#ifndef LAUNCHER_INSTRUMENT_H
#define LAUNCHER_INSTRUMENT_H

#include "wire/run.h"

struct instrument_spec {
	struct run_owner owner;
	uint32_t	 role;
	uint64_t	 processes;	/* limit for all of the owner's */
};

/* The cgroup that it is in. */
enum leaf_of instrument_leaf(uint32_t role);
/* A pending_fn; arg is a struct instrument_spec, KEPT_FD2 the binary. */
void	instrument_first(const void *arg) __attribute__((noreturn));

#endif
