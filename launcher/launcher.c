/* SPDX-License-Identifier: ISC */
/* Variables that the files of the launcher share. */
#include "launcher.h"

struct channel	 spawner_chan;
int		 archiver_fd = -1;
int		 instrument_fds[ROLE_END] = { [0 ... ROLE_END - 1] = -1 };
int		 userns_errno, proc_errno;
