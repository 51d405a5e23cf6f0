/* SPDX-License-Identifier: ISC */
/*
 * What makes the tracer one for a processor that it does not know: linked
 * before what it knows of this one.  Without the macro system headers would be
 * those of 32 bits, so they come first.
 */
#include <sys/user.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#undef __x86_64__
#include "../../tracer/engine/arch_none.c"
