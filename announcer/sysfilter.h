/* SPDX-License-Identifier: ISC */
/* What the announcer may ask of the kernel. */
#ifndef ANNOUNCER_SYSFILTER_H
#define ANNOUNCER_SYSFILTER_H

#include "filter.h"

extern const struct filter announcer_filter;

#endif
