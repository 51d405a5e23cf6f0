/* SPDX-License-Identifier: ISC */
/* Facts about the host that starts of sessions depend on. */
#include "facts.h"
#include "wire/role.h"

/* a terminal multiplexer's windows; a test that types at programs */
#define TERMINALS_TTY	64
#define TERMINALS_PIPES	16

const struct user_resource user_resources[USER_RESOURCES] = {
	[USER_INOTIFY] = { "max_inotify_instances", "inotify instances",
	    "/proc/sys/fs/inotify/max_user_instances", 16, true },
	[USER_WATCHES] = { "max_inotify_watches", "inotify watches",
	    "/proc/sys/fs/inotify/max_user_watches", 2048, true },
	[USER_FANOTIFY] = { "max_fanotify_groups", "fanotify groups", NULL, 1,
	    true },
	[USER_MARKS] = { "max_fanotify_marks", "fanotify marks", NULL, 1,
	    true },
	[USER_NAMESPACES] = { "max_user_namespaces", "user namespaces", NULL,
	    32, false },
};

/* the defaults of the kernel: 4096, and 1024 of them for the host alone */
struct facts	facts = {
	.terminals = 4096 - 1024,
	.user = { [0 ... USER_RESOURCES - 1] = FACT_UNKNOWN },
};

unsigned int
facts_terminals(bool tty)
{
	unsigned int most = tty ? TERMINALS_TTY : TERMINALS_PIPES;
	uint64_t part = facts.terminals / settings.max_sessions;

	if (part == 0)
		return 1;
	return part < most ? (unsigned int)part : most;
}
