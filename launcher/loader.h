/* SPDX-License-Identifier: ISC */
/* The dynamic loader's part of a start. */
#ifndef LAUNCHER_LOADER_H
#define LAUNCHER_LOADER_H

#include <sys/types.h>

/*
 * pid has executed under PTRACE_TRACEME and is stopped, or about to be.  Lets
 * its loader run until the program itself begins, and the program go then.
 * When the loader gives up it does not return: STEP_LOADER.  Programs without
 * a loader, and hosts without hardware breakpoints, are let go at once.
 */
void	loader_watch(pid_t pid);

#endif
