/* SPDX-License-Identifier: ISC */
/* What the files of the launcher share. */
#ifndef LAUNCHER_HAND_H
#define LAUNCHER_HAND_H

#include <stdbool.h>
#include <stddef.h>

#include "msg.h"
#include "run.h"

extern struct channel	 spawner_chan;
/* The session filter, compiled once; NULL when weaken-seccomp is set. */
extern void		*session_prog;
extern size_t		 session_prog_len;
/* The archiver's binary, -1 until the parent has sent it. */
extern int		 archiver_fd;
/* Those of instruments, by role, likewise. */
extern int		 instrument_fds[];
/* What the try at the start said: 0, or why user namespaces fail. */
extern int		 userns_errno, proc_errno;

/* May this launcher make a process for that owner?  False with errno. */
bool	 owner_allowed(const struct run_owner *);

#endif
