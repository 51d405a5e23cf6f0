/* SPDX-License-Identifier: ISC */
/*
 * Starts an instrument.  The launcher executes it as the session's owner,
 * outside of the session's namespaces; it speaks with the spawner by fd 3.
 */
#include <sys/prctl.h>

#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "main.h"

#define CHANNEL_FD	3

int
inst_main(const struct inst_program *p)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	/* first of all: other processes of its owner's must not look inside */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		fatal("prctl");
	log_init(role_name(p->role), LOG_L_DEBUG, NULL);
	(void)prctl(PR_SET_NAME, role_name(p->role), 0, 0, 0);
	(void)sigaction(SIGPIPE, &sa, NULL);
	/* a file that is larger than files may be is told */
	(void)sigaction(SIGXFSZ, &sa, NULL);
	if (close_range(CHANNEL_FD + 1, ~0U, 0) == -1)
		fatal("close_range");
	if (loop_init() == -1)
		fatal("epoll");
	p->open(CHANNEL_FD);
	if (filter_load(p->filter) == -1)
		fatal("cannot load the system call filter");
	if (loop_run() == -1)
		fatal("event loop");
	return 0;
}
