/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* Says "ready" and waits for a signal; with an argument, so many seconds. */
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	if (argc > 1) {
		sleep((unsigned int)atoi(argv[1]));
		return 0;
	}
	for (;;)
		pause();
}
