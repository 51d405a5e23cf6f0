/* SPDX-License-Identifier: ISC */
/* The extended registers of a thread, NT_X86_XSTATE of ptrace(2). */
#ifndef COMMON_XSTATE_H
#define COMMON_XSTATE_H

#include <stddef.h>

/*
 * Bytes for which gdb and gdbserver before version 14 have room.  The kernel
 * takes all of a thread's extended registers or refuses with EFAULT, so they
 * can write none on a processor that has more, as those with AMX do.
 */
#define XSTATE_GDB13	2696

/* Size in bytes of this processor's extended registers; 0 = unknown, not x86. */
size_t	 xstate_size(void);

#endif
