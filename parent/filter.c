/* SPDX-License-Identifier: ISC */
/* The parent's own filter, loaded when it has done what wanted more. */
#include "base/log.h"
#include "parent.h"
#include "sysfilter.h"

void
parent_filter(void)
{
	if (d.plan->settings.weakened & WEAKEN_SECCOMP)
		return;
	if (filter_load(parent_filter_make(d.mode, d.role_id)) == -1)
		fatal("cannot load the parent's system call filter (the kernel "
		    "needs CONFIG_SECCOMP_FILTER), or set weaken-seccomp yes");
}
