/* SPDX-License-Identifier: ISC */
/* Names as they were written, from those of C++ and Rust compilers. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stddef.h>

/*
 * Writes the function's name without parameters and return type into out
 * (size > 0) and returns its length; 0 when raw is not mangled, or would be
 * longer than out.
 */
size_t	demangle(const char *raw, size_t len, char *out, size_t size);

#endif
