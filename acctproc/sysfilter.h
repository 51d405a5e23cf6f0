/* SPDX-License-Identifier: ISC */
/* The system calls that acctproc may make. */
#ifndef ACCTPROC_SYSFILTER_H
#define ACCTPROC_SYSFILTER_H

#include "confine/filter.h"

extern const struct filter acctproc_filter;

#endif
