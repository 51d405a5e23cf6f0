/* SPDX-License-Identifier: ISC */
/* The parts of a debugger, put together. */
#ifndef DEBUGGER_PARTS_H
#define DEBUGGER_PARTS_H

struct link_handlers;

/* First of all; the result is for link_open(). */
const struct link_handlers *parts_init(void);

#endif
