/* SPDX-License-Identifier: ISC */
/* The parts of a tracer, put together. */
#ifndef TRACER_ASSEMBLE_H
#define TRACER_ASSEMBLE_H

struct link_handlers;

/* First of all; the result is for trace_link_open(). */
const struct link_handlers *tracer_assemble(void);

#endif
