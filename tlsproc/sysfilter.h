/* SPDX-License-Identifier: ISC */
/* What tlsproc may ask of the kernel. */
#ifndef TLSPROC_SYSFILTER_H
#define TLSPROC_SYSFILTER_H

#include "filter.h"

extern const struct filter tlsproc_filter;

#endif
