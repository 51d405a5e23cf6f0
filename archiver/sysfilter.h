/* SPDX-License-Identifier: ISC */
/* System calls that each of the archiver's jobs may make. */
#ifndef ARCHIVER_SYSFILTER_H
#define ARCHIVER_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter unpack_filter;
extern const struct filter pack_filter;

#endif
