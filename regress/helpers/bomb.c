/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* A fork bomb: every process forks as long as it can, each wants to stay. */
#include <signal.h>
#include <unistd.h>

int
main(void)
{
	signal(SIGTERM, SIG_IGN);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;)
		if (fork() == -1)
			usleep(1000);
}
