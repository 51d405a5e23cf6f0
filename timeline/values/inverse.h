/* SPDX-License-Identifier: ISC */
/*
 * From a value to what is captured of a result that is shown so: render.h the
 * other way round, for store_set_inverse().
 */
#ifndef TIMELINE_INVERSE_H
#define TIMELINE_INVERSE_H

#include <stddef.h>

#include "render.h"
#include "timeline/store/store.h"

/*
 * steps are those that capture the result.  Without a description values are
 * shown as words, and so it is of these.
 */
void	 inverse_of(const struct desc *, const struct capture *steps,
	    size_t nsteps, const struct store_value *,
	    struct store_inverse *);

#endif
