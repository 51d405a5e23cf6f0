/* SPDX-License-Identifier: ISC */
/* System calls that the spawner may make. */
#ifndef SPAWNER_SYSFILTER_H
#define SPAWNER_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter spawner_filter;

#endif
