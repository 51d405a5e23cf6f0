/* SPDX-License-Identifier: ISC */
/* What the spawner may ask of the kernel. */
#ifndef SPAWNER_SYSFILTER_H
#define SPAWNER_SYSFILTER_H

#include "filter.h"

extern const struct filter spawner_filter;

#endif
