/* SPDX-License-Identifier: ISC */
/* The commands about breakpoints, and those that a start brings along. */
#ifndef DEBUGGER_BPCMD_H
#define DEBUGGER_BPCMD_H

#include "commands.h"

extern const struct command bp_commands[];

#endif
