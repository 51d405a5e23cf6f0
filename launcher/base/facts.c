/* SPDX-License-Identifier: ISC */
/* Facts about the host that starts of sessions depend on. */
#include "facts.h"

/* the defaults of the kernel: 4096, and 1024 of them for the host alone */
struct facts	facts = {
	.registers_stop = 1,
	.terminals = 4096 - 1024,
	.user = { [0 ... USER_RESOURCES - 1] = FACT_UNKNOWN },
};
