/* SPDX-License-Identifier: ISC */
/*
 * In system mode the control group of the socket tells where it was made:
 * sessions cannot leave theirs.  In user mode sessions belong to the same user
 * as everything around them, and that user may move processes about, so the
 * process that has the socket is looked for as well.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/again.h"
#include "cgroups.h"
#include "holders.h"
#include "origin.h"
#include "wire/role.h"

static bool	by_cgroup, by_holder;
/* the answer to come may be wrong: see origin_missed() */
static bool	missed;

void
origin_init(void)
{
	if (settings.cgroup[0] != '\0') {
		if (cgroups_init(settings.cgroup) == -1)
			role_cannot("find its sessions' control groups",
			    "cgroup v2 must be mounted and delegated");
		by_cgroup = true;
	}
	if (holders_init() == -1)
		role_cannot("read /proc", "mount /proc");
	by_holder = role_mode == MODE_USER;
}

void
origin_missed(void)
{
	missed |= origin_lacks();
}

static int __attribute__((format(printf, 3, 4)))
refuse(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	if (missed) {
		(void)snprintf(why, size, "there are no descriptors or no "
		    "memory left to tell whether it is a session's");
		return 1;
	}
	va_start(ap, fmt);
	(void)vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return -1;
}

/* A process whose ancestors are hidden may be a session's. */
static int
refuse_hidden(char *why, size_t size)
{
	return refuse(why, size, "/proc hides processes (hidepid), so that a "
	    "session cannot be told from its user; remount it with %s",
	    role_mode == MODE_SYSTEM ? "gid=_dlid" : "hidepid=0");
}

static int
check_cgroup(const struct diag_socket *s, char *why, size_t size)
{
	if (s->cgroup == 0)
		return refuse(why, size, "the kernel does not tell the control "
		    "group of a socket (CONFIG_CGROUPS), so that a session "
		    "would pass for a user");
	switch (cgroups_place(s->cgroup)) {
	case CGROUP_OUTSIDE:
		return 0;
	case CGROUP_SESSION:
		return refuse(why, size, "it comes from a session; sessions "
		    "are clients only with \"control yes\"");
	case CGROUP_UNKNOWN:
		break;
	}
	return refuse(why, size, "its control group %llu is not on this host "
	    "any more, and may have been a session's",
	    (unsigned long long)s->cgroup);
}

static int
check_holder(const struct diag_socket *s, char *why, size_t size)
{
	/* sessions of this daemon cannot have any other uid */
	if (s->uid != settings.daemon_uid)
		return 0;
	switch (holders_find(s->uid, s->inode)) {
	case HOLDER_OUTSIDE:
		return 0;
	case HOLDER_SESSION:
		if (holders_hidden())
			return refuse_hidden(why, size);
		return refuse(why, size, "it comes from a session or from "
		    "another pid namespace; sessions are clients only with "
		    "\"control yes\"");
	case HOLDER_NONE:
		break;
	}
	if (holders_hidden())
		return refuse_hidden(why, size);
	return refuse(why, size, "no process that can be looked at has its "
	    "socket %u, so it may be a session's", s->inode);
}

int
origin_check(const struct diag_socket *s, char *why, size_t size)
{
	int r;

	missed = false;
	if (settings.control != 0)
		return 0;
	if (!by_cgroup && !by_holder)
		return refuse(why, size, "without a control group of their "
		    "own sessions cannot be told from users: delegate one "
		    "(cgroup v2), or set \"control yes\"");
	r = by_cgroup ? check_cgroup(s, why, size) : 0;
	if (r != 0)
		return r;
	return by_holder ? check_holder(s, why, size) : 0;
}

static bool
origin_has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return pidfd != -1 && poll_again(&p, 1, 0) != 0;
}

/* While it runs nobody else has its number: so that is asked last. */
int
origin_check_pid(pid_t pid, int pidfd, char *why, size_t size)
{
	missed = false;
	if (settings.control != 0 ||
	    (!holders_is_session(pid) && !origin_has_ended(pidfd)))
		return 0;
	if (holders_hidden())
		return refuse_hidden(why, size);
	return refuse(why, size, "process %d is a session's, or gone; sessions "
	    "are clients only with \"control yes\"", pid);
}
