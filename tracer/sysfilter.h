/* SPDX-License-Identifier: ISC */
/* System calls that a tracer's process may make. */
#ifndef TRACER_SYSFILTER_H
#define TRACER_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter tracer_filter;

#endif
