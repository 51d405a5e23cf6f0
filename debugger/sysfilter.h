/* SPDX-License-Identifier: ISC */
/* System calls that a debugger's process may make. */
#ifndef DEBUGGER_SYSFILTER_H
#define DEBUGGER_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter debugger_filter;

#endif
