/* SPDX-License-Identifier: ISC */
/* The system calls that netproc may make. */
#ifndef DL_NET_SYSFILTER_H
#define DL_NET_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter	netproc_filter;

#endif
