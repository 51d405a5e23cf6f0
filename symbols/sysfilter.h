/* SPDX-License-Identifier: ISC */
/* System calls of a reader of binaries. */
#ifndef SYMBOLS_SYSFILTER_H
#define SYMBOLS_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter symbols_filter;

#endif
