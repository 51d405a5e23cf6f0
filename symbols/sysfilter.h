/* SPDX-License-Identifier: ISC */
/* What a reader of binaries may ask of the kernel. */
#ifndef SYMBOLS_SYSFILTER_H
#define SYMBOLS_SYSFILTER_H

#include "filter.h"

extern const struct filter symbols_filter;

#endif
