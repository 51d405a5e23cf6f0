/* SPDX-License-Identifier: ISC */
/* System calls that idproc may make. */
#ifndef IDPROC_SYSFILTER_H
#define IDPROC_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter idproc_filter;

#endif
