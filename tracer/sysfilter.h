/* SPDX-License-Identifier: ISC */
/* What a tracer's process may ask of the kernel. */
#ifndef TRACER_SYSFILTER_H
#define TRACER_SYSFILTER_H

#include "filter.h"

extern const struct filter tracer_filter;

#endif
