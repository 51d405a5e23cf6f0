/* SPDX-License-Identifier: ISC */
/* The dialect of the present adapter, which its profile has. */
#include <stddef.h>

#include "debugger/base/debuggee.h"
#include "dialect.h"
#include "profile.h"

const struct dialect *
dialect(void)
{
	static const struct dialect careful = {
		.hit_format = "", .print_context = "watch",
		.eval_context = "repl",
	};

	return dbg.profile == NULL ? &careful : &dbg.profile->dialect;
}
