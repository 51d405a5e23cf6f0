/* SPDX-License-Identifier: ISC */
/* Exception thrown, or signal received, at the present stop. */
#ifndef DEBUGGER_VIEW_EXCEPTION_H
#define DEBUGGER_VIEW_EXCEPTION_H

#include <stdbool.h>

struct json_object;

#define EXC_TYPES	3	/* its own, and bases that are known */

struct exception {
	bool		 known;		/* else nothing was found out */
	bool		 unhandled;	/* nobody would have caught it */
	char		 id[128];	/* the adapter's */
	char		 types[EXC_TYPES][256];	/* "" = no more */
	char		 description[2048];
	char		 details[4096];	/* a traceback, or "" */
};

/* fn is called once, never before this returns. */
void	 exception_read(void (*fn)(const struct exception *));
/* Result of this stop's latest exception_read(); known false = nothing. */
const struct exception *exception_latest(void);
void	 exception_forget(void);
/* Is it, or is its base, that type: "ValueError", "std::runtime_error"? */
bool	 exception_is(const struct exception *, const char *type);
/* {"id","description","details"}, or NULL. */
struct json_object *exception_json(const struct exception *);

#endif
