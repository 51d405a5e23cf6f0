/* SPDX-License-Identifier: ISC */
/*
 * What a session may not ask of the kernel: one deny list, two cuts of it.
 * Everything else is allowed, as the programs under test are anybody's and
 * debuggers (ptrace, process_vm_*, personality, memfd_create, executable
 * mappings) run under it too.
 */
#ifndef DL_SESSFILTER_H
#define DL_SESSFILTER_H

#include "filter.h"

/* The launcher's own, inherited by all that it starts. */
extern const struct filter	 launcher_filter;
/* The whole list: sessions with namespaces of their own, gdbserver, jobs. */
extern const struct filter	 session_filter;

#endif
