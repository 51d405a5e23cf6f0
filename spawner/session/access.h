/* SPDX-License-Identifier: ISC */
/*
 * Access of viewers to sessions, and what netproc has been told of it.  A
 * viewer is a user with the rights of a connection: root's by the local socket,
 * and an administrator's, see all users' sessions.  A guest sees one.
 */
#ifndef SPAWNER_ACCESS_H
#define SPAWNER_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/loop.h"
#include "wire/proto.h"

struct owner;
struct session;

struct viewer {
	LIST_ENTRY(viewer) next;	/* of those that netproc knows */
	struct owner	*owner;
	bool		 admin;
	struct session	*only;		/* a guest's; NULL = no guest */
	enum access	 most;		/* that a guest may do with it */
	unsigned int	 nconns;
	bool		 held;		/* netproc has a replica */
	struct loop_timer linger;
};

/* A viewer of the session that netproc was told of. */
struct viewer_access {
	LIST_ENTRY(viewer_access) next;
	struct viewer	*viewer;
	enum access	 access;
	bool		 named;		/* by its label */
};
LIST_HEAD(viewer_access_list, viewer_access);

/* NULL: there are too many users, or there is no memory. */
struct viewer	*viewer_make(uint32_t uid, const char *name, bool admin);
/*
 * A connection becomes, or stops being, the viewer's; netproc is told what the
 * viewer sees.
 */
void		 viewer_join(struct viewer *);
void		 viewer_leave(struct viewer *);
/* A guest, who has no connection any more, is about to be freed. */
void		 viewer_release(struct viewer *);
/* netproc has gone, and all that it was told. */
void		 viewer_forget_all(void);

enum access	 access_of(const struct viewer *, const struct session *);
/* The share of that user, who is not the owner; NULL = none. */
struct share	*access_share(const struct session *, uint32_t uid);
/* The session, or who may see it, has changed. */
void		 access_update(struct session *);
/* Does netproc have it? */
bool		 access_is_told(const struct session *);
/* The session is about to be freed: netproc forgets it. */
void		 access_end(struct session *);

#endif
