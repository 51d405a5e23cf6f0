/* SPDX-License-Identifier: ISC */
/* A stretch of the program's output, from the ring, as answers show it. */
#ifndef DEBUGGER_STOP_OUTPUT_H
#define DEBUGGER_STOP_OUTPUT_H

#include <stdint.h>

#include "debugger/base/format.h"

struct json_object;

/*
 * Puts "output" (and "output_lost") into the answer: the bytes from from up
 * to to, at most most of them, the newest if there are more.
 */
void	 output_put_part(struct bound *, struct json_object *answer, uint64_t from,
    uint64_t to, size_t most);

#endif
