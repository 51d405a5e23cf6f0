/* SPDX-License-Identifier: ISC */
/*
 * From the engine to the timeline: what target.h hands over becomes events
 * of store.h.  The engine numbers calls in its own way; here they get the
 * timeline's ids.
 */
#ifndef TRACER_FEED_H
#define TRACER_FEED_H

#include "timeline/store/store.h"
#include "tracer/engine/target.h"

struct feed;
struct text;

/* Borrows the store.  NULL = no memory. */
struct feed *feed_new(struct store *);
void	 feed_free(struct feed *);
/* A record; now_ns as in store_append().  False = it was lost, and counted. */
bool	 feed_record(struct feed *, const struct trace_record *,
	    uint64_t now_ns);
/* The timeline's id of an open call that the engine calls so; 0 = unknown. */
uint64_t feed_call(struct feed *, uint32_t tid, uint64_t engine);
/*
 * Describes the place in the program where a thread has crashed: adds members
 * of a JSON object, each with a comma before it.  NULL = nothing is added.
 */
typedef void	(*feed_place_fn)(const struct target_event *, struct text *,
		    void *arg);
void	 feed_set_place(struct feed *, feed_place_fn, void *arg);
/* Threads that come and go, crashes, losses; others are passed over. */
void	 feed_event(struct feed *, const struct target_event *);

#endif
