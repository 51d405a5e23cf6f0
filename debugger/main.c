/* SPDX-License-Identifier: ISC */
/*
 * debugger: a session's debugger.  It speaks with the adapter by pipes and
 * with the spawner, and both its neighbours may be hostile: the adapter is as
 * hostile as the program that it debugs.
 */
#include "debugger/base/link.h"
#include "inst/main.h"
#include "parts.h"
#include "sysfilter.h"

static void
open_link(int fd)
{
	link_open(fd, parts_init());
}

int
main(void)
{
	static const struct inst_program debugger = {
		.role = ROLE_DEBUGGER,
		.filter = &debugger_filter,
		.open = open_link,
	};

	return inst_main(&debugger);
}
