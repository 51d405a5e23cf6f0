/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* Cannot be asked to end; with "child", has a child of the same mind. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (argc > 1 && strcmp(argv[1], "child") == 0 && fork() == 0)
		setsid();
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
