/* SPDX-License-Identifier: ISC */
/*
 * How much the timelines of one owner may take together, and this one of it
 * (tracer user-timeline).
 */
#ifndef TRACER_ROOM_H
#define TRACER_ROOM_H

#include "trchello.h"

/* Remedy for the message of room_want(). */
#define ROOM_NEXT							\
	"remove timelines that nobody wants any more: debuglanternctl "	\
	"timeline delete NAME, or if it is of a session, "		\
	"debuglanternctl trace stop SESSION"

/* Borrows; before the others. */
void	room_begin(const struct trc_hello *);
/*
 * Whether there is room for another timeline: fn(NULL), at once or later, or
 * fn(why not).
 */
void	room_want(void (*fn)(const char *why));
/* Cancels room_want(): its fn is not called any more. */
void	room_drop(void);
/* This one has grown, and so may have others: timeline_limit() soon. */
void	room_look(void);

#endif
