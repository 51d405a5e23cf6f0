/* SPDX-License-Identifier: ISC */
/* System calls that the parent, and all that it starts, may make. */
#ifndef PARENT_SYSFILTER_H
#define PARENT_SYSFILTER_H

#include "confine/filter.h"
#include "wire/settings.h"
#include "wire/start.h"

/*
 * Makes the filter of a mode; in system mode ids has the users of the roles, by
 * enum role.  The result is good until the next call.
 */
const struct filter *parent_filter_make(enum mode, const struct identity *ids);

#endif
