/* SPDX-License-Identifier: ISC */
/* What a debugger's process may ask of the kernel. */
#ifndef DEBUGGER_SYSFILTER_H
#define DEBUGGER_SYSFILTER_H

#include "filter.h"

extern const struct filter debugger_filter;

#endif
