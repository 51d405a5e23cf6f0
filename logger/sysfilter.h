/* SPDX-License-Identifier: ISC */
/* The system calls that the logger may make. */
#ifndef LOGGER_SYSFILTER_H
#define LOGGER_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter logger_filter;

#endif
