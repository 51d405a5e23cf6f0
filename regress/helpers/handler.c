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
	static const int sigs[] = { SIGTERM, SIGUSR1, SIGUSR2, SIGCONT };
	struct sigaction sa = { .sa_handler = on_signal };
	size_t i;

	/* STOP sends TERM and CONT: the last word is not to be interrupted */
	sigfillset(&sa.sa_mask);
	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaction(sigs[i], &sa, NULL);
	say("ready\n", 6);
	for (;;)
		pause();
}
