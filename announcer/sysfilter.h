/* SPDX-License-Identifier: ISC */
/* System calls that the announcer may make. */
#ifndef ANNOUNCER_SYSFILTER_H
#define ANNOUNCER_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter announcer_filter;

#endif
