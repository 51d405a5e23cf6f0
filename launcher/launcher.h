/* SPDX-License-Identifier: ISC */
/* Declarations that the files of the launcher share. */
#ifndef LAUNCHER_LAUNCHER_H
#define LAUNCHER_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/msg.h"
#include "wire/run.h"

extern struct channel	 spawner_chan;
/* The archiver's binary, -1 until the parent has sent it. */
extern int		 archiver_fd;
/* The binaries of instruments, by role, likewise. */
extern int		 instrument_fds[];
/* Results of probe_userns() and probe_proc() at the start: 0 or errno. */
extern int		 userns_errno, proc_errno;

/* May this launcher make a process for that owner?  False with errno. */
bool	 owner_allowed(const struct run_owner *);

#endif
