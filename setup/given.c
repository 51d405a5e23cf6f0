/* SPDX-License-Identifier: ISC */
/* Descriptors for the parent, on their way to the numbers of common/wire/start.h. */
#include <fcntl.h>
#include <unistd.h>

#include "setup.h"

static int	fds[GIVEN_END] = { [0 ... GIVEN_END - 1] = -1 };

void
give(int number, int fd)
{
	fds[number] = fd;
}

int
given(int number)
{
	return fds[number];
}

/* Above all numbers first, so that none takes the place of another. */
void
given_place(void)
{
	int i;

	for (i = GIVEN_CHANNEL; i < GIVEN_END; i++)
		if (fds[i] != -1 && (fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC,
		    GIVEN_END)) == -1)
			fatal("cannot hand descriptors on (raise the limit of "
			    "open files)");
	for (i = GIVEN_CHANNEL; i < GIVEN_END; i++)
		if (fds[i] == -1)
			(void)close(i);
		else if (dup2(fds[i], i) == -1)
			fatal("dup2");
	if (close_range(GIVEN_END, ~0U, 0) == -1)
		fatal("close_range");
}
