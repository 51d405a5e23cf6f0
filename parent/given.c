/* SPDX-License-Identifier: ISC */
/* The descriptors that setup leaves, each with its number. */
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "parent.h"

static bool	absent[GIVEN_END];

int
given_fd(int number)
{
	return absent[number] ? -1 : number;
}

void
given_close(int number)
{
	if (!absent[number])
		(void)close(number);
	absent[number] = true;
}

/* Setup passes them on by exec; what we execute does not get them. */
void
given_take(void)
{
	int fd;

	for (fd = GIVEN_CHANNEL; fd < GIVEN_END; fd++)
		absent[fd] = fcntl(fd, F_SETFD, FD_CLOEXEC) == -1;
	/* it is what runs */
	given_close(GIVEN_BINARY + ROLE_PARENT);
	if (close_range(GIVEN_END, ~0U, 0) == -1)
		fatal("close_range");
}
