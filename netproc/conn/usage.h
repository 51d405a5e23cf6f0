/* SPDX-License-Identifier: ISC */
/*
 * Resource usage of running sessions.  The spawner measures it only while
 * somebody watches through netproc.
 */
#ifndef DL_NET_USAGE_H
#define DL_NET_USAGE_H

#include <sys/queue.h>

#include "base/json.h"
#include "wire/msg.h"

struct rsession;

/* Called when rsession.usage is new; access to the session is unchecked. */
typedef void	(*usage_fn)(struct rsession *, void *arg);

/* Embedded in who looks; fn and arg are set before usage_begin(). */
struct usage_watcher {
	LIST_ENTRY(usage_watcher) next;
	usage_fn	 fn;
	void		*arg;
};

void	 usage_begin(struct usage_watcher *);
/* May be called from its own fn. */
void	 usage_end(struct usage_watcher *);
/* Somebody has looked once, and will perhaps again in some seconds. */
void	 usage_look(void);

/*
 * The members cpu_ns, memory and at_ms, when that was found out by a clock
 * that nobody sets: numbers, or null where nobody knows.
 */
void	 usage_json(struct text *, const struct rsession *);

/* The spawner has gone; there is a new one. */
void	 usage_lost(void);
void	 usage_again(void);

int	 net_on_usage(struct msg *);

#endif
