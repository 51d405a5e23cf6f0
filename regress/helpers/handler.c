/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * Answers signals: USR1 and USR2 print their name, TERM prints "bye" and
 * exits with 3.
 */
#include <signal.h>
#include <unistd.h>

static void
say(const char *s, size_t n)
{
	if (write(STDOUT_FILENO, s, n) != (ssize_t)n)
		_exit(1);
}

static void
on_signal(int sig)
{
	if (sig == SIGTERM) {
		say("bye\n", 4);
		_exit(3);
	}
	say(sig == SIGUSR1 ? "USR1\n" : sig == SIGUSR2 ? "USR2\n" : "CONT\n",
	    5);
}

int
main(void)
{
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	signal(SIGCONT, on_signal);
	say("ready\n", 6);
	for (;;)
		pause();
}
