/* SPDX-License-Identifier: ISC */
/* Pids of a session's namespace as the host counts. */
#ifndef DEBUGGER_BASE_HOSTPID_H
#define DEBUGGER_BASE_HOSTPID_H

#include <sys/types.h>

/*
 * The process that has the pid inner in the namespace in which the adapter,
 * host pid adapter, is; 0 when it cannot be found.
 */
pid_t	hostpid(pid_t adapter, pid_t inner);

#endif
