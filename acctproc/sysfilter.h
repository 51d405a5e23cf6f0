/* SPDX-License-Identifier: ISC */
/* What acctproc may ask of the kernel. */
#ifndef ACCTPROC_SYSFILTER_H
#define ACCTPROC_SYSFILTER_H

#include "filter.h"

extern const struct filter acctproc_filter;

#endif
