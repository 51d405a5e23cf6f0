/* SPDX-License-Identifier: ISC */
/* Facts about the host that starts of sessions depend on. */
#ifndef LAUNCHER_BASE_FACTS_H
#define LAUNCHER_BASE_FACTS_H

#include <stdint.h>

/* Resources that the kernel counts by user namespaces. */
enum { USER_INOTIFY, USER_WATCHES, USER_FANOTIFY, USER_MARKS, USER_NAMESPACES,
    USER_RESOURCES };

#define FACT_UNKNOWN	UINT64_MAX
/* The limit of a namespace for which none was set. */
#define FACT_NO_LIMIT	INT32_MAX

struct facts {
	int32_t		userns_errno;	/* of a user namespace; 0 = it works */
	int32_t		proc_errno;	/* of mounting /proc in one */
	uint32_t	registers_stop;	/* whether debug registers do */
	uint64_t	terminals;	/* of all sessions */
	/* what a user has of each resource */
	uint64_t	user[USER_RESOURCES];
};
extern struct facts	facts;

#endif
