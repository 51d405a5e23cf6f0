/* SPDX-License-Identifier: ISC */
/* Whether a process has ended. */
#include <poll.h>

#include "base/again.h"
#include "ended.h"

bool
has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll_again(&p, 1, 0) == 1;
}
