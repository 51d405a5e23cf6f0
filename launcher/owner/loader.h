/* SPDX-License-Identifier: ISC */
/* The dynamic loader's part of a start. */
#ifndef LAUNCHER_OWNER_LOADER_H
#define LAUNCHER_OWNER_LOADER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether debug registers stop a program, by a trial. */
bool	loader_probe(void);
/*
 * pid has executed under PTRACE_TRACEME and is stopped, or about to be.  Lets
 * its loader run until the program itself begins, and the program go then.
 * When the loader gives up it does not return: STEP_LOADER.  Programs without
 * a loader, and processors without breakpoints here, are let go at once.
 */
void	loader_watch(pid_t pid);

#endif
