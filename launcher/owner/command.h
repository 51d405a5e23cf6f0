/* SPDX-License-Identifier: ISC */
/* Commands of the host, as a session's program. */
#ifndef LAUNCHER_OWNER_COMMAND_H
#define LAUNCHER_OWNER_COMMAND_H

#include "wire/proto.h"

/*
 * Executes argv[0], which is looked for in the PATH of envp unless a slash is
 * in it.  Comes back when it cannot: the step that failed, errno.
 */
enum step	command_exec(char **argv, char **envp);

#endif
