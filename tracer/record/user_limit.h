/* SPDX-License-Identifier: ISC */
/*
 * How much the timelines of one owner may take together, and this one of it
 * (tracer user-timeline).
 */
#ifndef TRACER_USER_LIMIT_H
#define TRACER_USER_LIMIT_H

#include "wire/insthello.h"

/* Remedy for the message of user_limit_ask(). */
#define USER_LIMIT_NEXT							\
	"remove timelines that nobody wants any more: debuglanternctl "	\
	"timeline delete NAME, or if it is of a session, "		\
	"debuglanternctl trace stop SESSION"

/* Borrows; before the others.  limit is told how many bytes calls may take. */
void	user_limit_begin(const struct trc_hello *, void (*limit)(uint64_t));
/*
 * Whether there is room for another timeline: fn(NULL), at once or later, or
 * fn(why not).
 */
void	user_limit_ask(void (*fn)(const char *why));
/* Cancels user_limit_ask(): its fn is not called any more. */
void	user_limit_cancel(void);
/* This one has grown, and so may have others: limit() soon. */
void	user_limit_look(void);

/* From the link; see struct link_handlers. */
void	trc_used(uint64_t bytes);

#endif
