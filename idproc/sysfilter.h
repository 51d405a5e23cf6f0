/* SPDX-License-Identifier: ISC */
/* What idproc may ask of the kernel. */
#ifndef IDPROC_SYSFILTER_H
#define IDPROC_SYSFILTER_H

#include "filter.h"

extern const struct filter idproc_filter;

#endif
