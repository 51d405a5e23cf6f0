/* SPDX-License-Identifier: ISC */
/*
 * Changes as a stream of events for browsers: sessions that are new or
 * different, and those that have gone.  A client that comes back names its last
 * event, and gets the events that it missed, or everything anew.
 */
#ifndef DL_NET_FEED_H
#define DL_NET_FEED_H

#include <stdint.h>

#include "netproc/text/line.h"

struct conn;
struct owner;
struct rsession;
struct visible_session;

void	 feed_init(void);
/* Changes kept for an owner, from the first reference to the last. */
void	 feed_owner_init(struct owner *);
void	 feed_owner_free(struct owner *);
/* A session is another than it was, for all who see it. */
void	 feed_changed(struct rsession *);
/* From now on an owner sees a session. */
void	 feed_seen(struct visible_session *);
/* From now on an owner does not see a session, which may be going. */
void	 feed_gone(struct visible_session *);

void	 cmd_feed(struct conn *, struct rsession *, const struct words *);

#endif
