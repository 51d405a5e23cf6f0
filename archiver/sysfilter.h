/* SPDX-License-Identifier: ISC */
/* What an archiver may ask of the kernel, by its job. */
#ifndef ARCHIVER_SYSFILTER_H
#define ARCHIVER_SYSFILTER_H

#include "filter.h"

extern const struct filter unpack_filter;
extern const struct filter pack_filter;

#endif
