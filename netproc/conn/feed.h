/* SPDX-License-Identifier: ISC */
/*
 * Changes as a stream of events for browsers: sessions that are new or
 * different, and those that have gone.  A client that comes back names its last
 * event, and gets the events that it missed, or everything anew.
 */
#ifndef DL_NET_FEED_H
#define DL_NET_FEED_H

#include "netproc/text/line.h"

struct conn;
struct rsession;

/* Before the first session of the replica. */
void	 feed_init(void);
void	 cmd_feed(struct conn *, struct rsession *, const struct words *);

#endif
