/* SPDX-License-Identifier: ISC */
/* Parses what lldb prints about memory and instructions. */
#ifndef DEBUGGER_TEXT_MEMTEXT_H
#define DEBUGGER_TEXT_MEMTEXT_H

#include <stddef.h>
#include <stdint.h>

struct json_object;

/* "0x7ff0: 0x01 0x02 ..." lines; how many bytes there were, room at most. */
size_t	 memtext_dump(const char *, uint8_t *, size_t room);
/* The words after "error: ", else all of it. */
const char *memtext_error(const char *);
/* "00ff7f" or "00 ff 7f"; -1: it is none, or too long. */
int64_t	 memtext_unhex(const char *, uint8_t *, size_t room);
/*
 * "->  0x1234 <+4>: mov ..." lines of one function: where it begins, how
 * many instructions it has, and the index of the present one (-1 = none).
 * Returns how many; 0 = that is no such text.
 */
size_t	 memtext_function(const char *, uint64_t *start, int64_t *present);

/*
 * The names of the variables that `frame variable` printed: an array, the
 * caller's.
 */
struct json_object *memtext_names(const char *);

#endif
