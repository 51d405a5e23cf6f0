/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* usage: crash segv|abort|fpe|NUMBER: says "crashing" and does. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "segv";

	if (write(STDOUT_FILENO, "crashing\n", 9) != 9)
		return 1;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*(volatile int *)(argc > 9 ? how : NULL) = 1;
	raise(strcmp(how, "fpe") == 0 ? SIGFPE : atoi(how));
	return 0;
}
