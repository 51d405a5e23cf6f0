/* SPDX-License-Identifier: ISC */
/*
 * Deny list of system calls for sessions, in two parts.  Everything else is
 * allowed, as the programs under test are anybody's and debuggers (ptrace,
 * process_vm_*, personality, memfd_create, executable mappings) run under the
 * list too.
 */
#ifndef DL_SESSFILTER_H
#define DL_SESSFILTER_H

#include "filter.h"

/* The launcher's own, inherited by all that it starts. */
extern const struct filter	 launcher_filter;
/*
 * Added for everything that runs in namespaces of its own: sessions, gdbserver,
 * jobs.  Short, as the kernel compiles the filter at each start.
 */
extern const struct filter	 session_filter;
/* The same for allow-32bit no. */
extern const struct filter	 session_64bit_filter;
/* Takes the place of both then, where there are no namespaces to guard. */
extern const struct filter	 only_64bit_filter;

enum session_filter_kind {
	FILTER_SESSION,
	FILTER_SESSION_64BIT,
	FILTER_ONLY_64BIT,
	FILTER_KINDS
};
extern const struct filter	*const session_filters[FILTER_KINDS];

#endif
