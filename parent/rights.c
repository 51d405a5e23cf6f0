/* SPDX-License-Identifier: ISC */
/*
 * The four capabilities that the parent keeps in system mode, so that each
 * role can become its user; uid 0 is out of reach for it by its filter.
 */
#include <sys/prctl.h>

#include <sched.h>
#include <unistd.h>

#include "base/log.h"
#include "confine/caps.h"
#include "parent.h"

#define LAUNCHER_CAPS	(CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) |	\
			 CAP_BIT(CAP_KILL))

void
rights_take(void)
{
	/* executed by fd, its name would be the fd's number */
	(void)prctl(PR_SET_NAME, "debuglanternd", 0, 0, 0);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    caps_ambient_clear() == -1)
		fatal("ambient capabilities");
}

int
rights_lend(bool fence)
{
	uint64_t caps = fence ? LAUNCHER_CAPS : KEPT_CAPS;

	if (d.mode != MODE_SYSTEM)
		return 0;
	if (fence && setns(given_fd(GIVEN_FENCE), CLONE_NEWUSER) == -1)
		return -1;
	if (caps_set(caps, caps) == -1)
		return -1;
	return caps_ambient(caps);
}

int
rights_drop(void)
{
	return d.mode == MODE_SYSTEM ? caps_set(0, 0) : 0;
}
