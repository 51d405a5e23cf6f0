/* SPDX-License-Identifier: ISC */
/*
 * Builds the tracer as for a processor that it does not know: linked before the
 * tracer's code for this processor.  Without the macro __x86_64__, system
 * headers would be those of 32 bits, so they come first.
 */
#include <sys/user.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#undef __x86_64__
#include "../../tracer/engine/arch_none.c"
