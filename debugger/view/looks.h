/* SPDX-License-Identifier: ISC */
/* The tables of the commands that look at a stopped program. */
#ifndef DEBUGGER_VIEW_LOOKS_H
#define DEBUGGER_VIEW_LOOKS_H

#include "debugger/base/command.h"

extern const struct command look_commands[];	/* stop/inspect.c */
extern const struct command source_commands[];	/* stop/listing.c */
extern const struct command print_commands[];	/* print.c */
extern const struct command memory_commands[];	/* memory.c */
extern const struct command set_commands[];	/* set_command.c */
extern const struct command machine_commands[];	/* machine.c */

/* Does what print does, for an expression that is given another way. */
void	 look_print(struct op *, const char *expression);

#endif
