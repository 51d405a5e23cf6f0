/* SPDX-License-Identifier: ISC */
/* Functions that are named by where they are: "0x4011d6", "libx.so+0x1139". */
#ifndef TRACER_ADDRESS_H
#define TRACER_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/record/process.h"

/* Whether it has the form of one. */
bool	 address_is_one(const char *);
/*
 * The module that it lies in, and the unrelocated address.  A number is an
 * address in the process, or else one in the program's file; a name is that
 * of a mapped file, or else of a function.  NULL: it lies nowhere (yet).
 */
const struct module *address_find(const struct process *, const char *,
	    uint64_t *addr);

#endif
