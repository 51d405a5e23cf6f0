/* SPDX-License-Identifier: ISC */
/* Which signals are ours to act on: nohup, and shells for what they run in
 * the background, say by ignoring some which those are not. */
#include <sys/signalfd.h>

#include <signal.h>

#include "signals.h"

bool
signal_wanted(int signo)
{
	struct sigaction sa;

	return sigaction(signo, NULL, &sa) == 0 && sa.sa_handler != SIG_IGN;
}

int
signals_take(const int *signos, size_t n)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	/* once blocked, a signal would be queued though it is ignored */
	for (i = 0; i < n; i++)
		if (signal_wanted(signos[i]))
			sigaddset(&set, signos[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
