/* SPDX-License-Identifier: ISC */
#include "confine/xstate.h"
#include "injector.h"

static const struct profile lldb = { .name = "lldb", .binary = "lldb" },
    any_gdb = { .name = "gdb", .binary = "gdb" };

bool
injector_find(const char *path, size_t registers, struct adapter_found *found,
    const char **why)
{
	if (profile_locate(&lldb, path, "", found) ||
	    profile_locate(profile_find("gdb"), path, "", found))
		return true;
	if (!profile_locate(&any_gdb, path, "", found)) {
		*why = "needs lldb or gdb to load debugpy into it, and "
		    "neither is installed: apt-get install lldb-19";
		return false;
	}
	/* an older gdb writes only part of the registers: a crash */
	if (registers <= XSTATE_GDB13)
		return true;
	*why = "needs lldb: gdb before 14 cannot write the registers of this "
	    "processor (it has AMX) and would crash the program: "
	    "apt-get install lldb-19";
	return false;
}
