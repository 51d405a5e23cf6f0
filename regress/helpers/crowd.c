/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* Many idle processes, as many as it is told, until its input ends. */
#include <sys/prctl.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char c;

	while (n-- > 0) {
		switch (fork()) {
		case -1:
			return 1;
		case 0:
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	return read(STDIN_FILENO, &c, 1) != 0;
}
