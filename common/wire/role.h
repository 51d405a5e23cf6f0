/* SPDX-License-Identifier: ISC */
/*
 * Common part of all children of the parent, from exec to the loop.
 *
 * fd 3 is the channel to the parent.  Its first message is SETUP, which brings
 * the link to the logger.  Then the role prepares (opens what it will need),
 * confines itself, says READY and runs the loop.  A failure on the way is fatal:
 * the line names the step, the errno and the remedy, and the parent ends the
 * start.
 */
#ifndef DL_ROLE_H
#define DL_ROLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "confine/confine.h"
#include "confine/filter.h"
#include "msg.h"
#include "settings.h"

struct role_desc {
	enum role		 self;
	/* Opens what the role needs from outside; may be NULL. */
	void			(*prepare)(void);
	/*
	 * Replaces the usual confinement (empty root, service user, no
	 * capabilities) up to but not including Landlock; may be NULL.
	 */
	void			(*confine)(void);
	bool			 keep_root;	/* needs the host's files */
	bool			 landlock;
	enum landlock_level	 landlock_level;
	int64_t			 fsize;		/* RLIMIT_FSIZE, -1 = leave */
	int64_t			 nproc;		/* RLIMIT_NPROC, -1 = leave */
	bool			 core;		/* leaves RLIMIT_CORE to sessions */
	const struct filter	*filter;
	/* Everything else is set up; the loop starts next; may be NULL. */
	void			(*start)(void);
	/* A channel to that role is there (again): takes fd. */
	void			(*peer)(enum role, int fd, uint32_t gen);
	void			(*settings)(void);	/* may be NULL */
	void			(*shutdown)(void);	/* NULL = exit */
	/* The parent is gone: what is to be done before exit; may be NULL. */
	void			(*orphaned)(void);
};

/* Values from SETUP and SETTINGS; valid from prepare() on. */
extern struct settings	 settings;
extern enum mode	 role_mode;
extern struct channel	 parent_chan;

/* The service user's ids (system mode), for a confine hook of one's own. */
void	role_service_ids(uid_t *, gid_t *);
/* Does not return. */
void	role_main(const struct role_desc *) __attribute__((noreturn));
/*
 * The link to a peer is not there any more, or could not be opened: the parent
 * makes another.  With a reason the peer broke the table, and is restarted.
 */
void	role_peer_gone(const struct channel *, const char *why);
/* Dies with "cannot WHAT: errno; REMEDY". */
void	role_cannot(const char *what, const char *remedy)
	    __attribute__((noreturn));

#endif
