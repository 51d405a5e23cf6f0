/* SPDX-License-Identifier: ISC */
/*
 * debugger: a session's debugger.  The launcher starts it as the session's
 * owner outside of the session's namespaces; it speaks with the spawner by fd
 * 3 and with the adapter by pipes, and both its neighbours may be hostile:
 * the adapter is as hostile as the program that it debugs.
 */
#include <sys/prctl.h>

#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "debugger/base/linkchan.h"
#include "parts.h"
#include "sysfilter.h"

#define CHANNEL_FD	3

int
main(void)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	/* first of all: other processes of its owner's must not look inside */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		fatal("prctl");
	log_init("debugger", LOG_L_DEBUG, NULL);
	(void)prctl(PR_SET_NAME, "debugger", 0, 0, 0);
	(void)sigaction(SIGPIPE, &sa, NULL);
	if (close_range(CHANNEL_FD + 1, ~0U, 0) == -1)
		fatal("close_range");
	if (loop_init() == -1)
		fatal("epoll");
	link_open(CHANNEL_FD, parts_init());
	if (filter_load(&debugger_filter) == -1)
		fatal("cannot load the system call filter");
	if (loop_run() == -1)
		fatal("event loop");
	return 0;
}
