/* SPDX-License-Identifier: ISC */
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "xstate.h"

#define LEAF_XSAVE	0xd

size_t
xstate_size(void)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	/* the size of what the kernel has switched on */
	if (__get_cpuid_count(LEAF_XSAVE, 0, &a, &b, &c, &d) == 1)
		return b;
#endif
	return 0;
}
