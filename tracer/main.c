/* SPDX-License-Identifier: ISC */
/* tracer: a session's tracer, whose program is hostile. */
#include "assemble.h"
#include "inst/main.h"
#include "sysfilter.h"
#include "tracer/base/link.h"

static void
open_link(int fd)
{
	trace_link_open(fd, tracer_assemble());
}

int
main(void)
{
	static const struct inst_program tracer = {
		.role = ROLE_TRACER,
		.filter = &tracer_filter,
		.open = open_link,
	};

	return inst_main(&tracer);
}
