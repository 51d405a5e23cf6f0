/* SPDX-License-Identifier: ISC */
/* Facts about the host that starts of sessions depend on. */
#ifndef LAUNCHER_BASE_FACTS_H
#define LAUNCHER_BASE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/* Resources that the kernel counts by user namespaces. */
enum { USER_INOTIFY, USER_WATCHES, USER_FANOTIFY, USER_MARKS, USER_NAMESPACES,
    USER_RESOURCES };
struct user_resource {
	const char	*name, *what;
	/* where all users' sum is, if it can be read inside the fence */
	const char	*host;
	uint64_t	 least;		/* a user's, for programs as they are */
	bool		 halved;	/* for each session */
};
extern const struct user_resource	user_resources[USER_RESOURCES];

#define FACT_UNKNOWN	UINT64_MAX
/* The limit of a namespace for which none was set. */
#define FACT_NO_LIMIT	INT32_MAX

struct facts {
	uint64_t	terminals;	/* of all sessions */
	/* what a user has of each resource */
	uint64_t	user[USER_RESOURCES];
};
extern struct facts	facts;

/* Pseudo terminals of a session, its own one included; with a terminal or not. */
unsigned int	facts_terminals(bool tty);

#endif
