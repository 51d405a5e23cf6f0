/* SPDX-License-Identifier: ISC */
/* The observer's system call filter. */
#ifndef LAUNCHER_OBSERVER_SYSFILTER_H
#define LAUNCHER_OBSERVER_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter	 observer_filter;

#endif
