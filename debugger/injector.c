/* SPDX-License-Identifier: ISC */
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "injector.h"

/*
 * gdb before 14 has room for this much, and the kernel refuses less than all.
 * By then gdb has written the other registers: the program crashes.
 */
#define OLD_GDB_REGISTERS	2696
#define LEAF_XSAVE		0xd

static const struct profile lldb = { .name = "lldb", .binary = "lldb" },
    any_gdb = { .name = "gdb", .binary = "gdb" };

size_t
injector_registers(void)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	/* the size of what the kernel has switched on */
	if (__get_cpuid_count(LEAF_XSAVE, 0, &a, &b, &c, &d) == 1)
		return b;
#endif
	return 0;
}

bool
injector_find(const char *path, size_t registers, struct adapter_found *found,
    const char **why)
{
	if (profile_locate(&lldb, path, "", found) ||
	    profile_locate(profile_find("gdb"), path, "", found))
		return true;
	if (!profile_locate(&any_gdb, path, "", found)) {
		*why = "needs lldb or gdb, which load debugpy into it, and "
		    "neither is in the PATH: apt-get install lldb-19";
		return false;
	}
	if (registers <= OLD_GDB_REGISTERS)
		return true;
	*why = "needs lldb: gdb before 14 cannot write the registers of this "
	    "processor (it has AMX) and would crash the program: "
	    "apt-get install lldb-19";
	return false;
}
