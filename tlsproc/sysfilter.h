/* SPDX-License-Identifier: ISC */
/* System calls that tlsproc may make. */
#ifndef TLSPROC_SYSFILTER_H
#define TLSPROC_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter tlsproc_filter;

#endif
