/* SPDX-License-Identifier: ISC */
/* Exception thrown, or signal received, at the present stop. */
#ifndef DEBUGGER_EXC_H
#define DEBUGGER_EXC_H

#include <stdbool.h>

struct json_object;

#define EXC_TYPES	3	/* its own, and bases that are known */

struct exc {
	bool		 known;		/* else nothing was found out */
	bool		 unhandled;	/* nobody would have caught it */
	char		 id[128];	/* the adapter's */
	char		 types[EXC_TYPES][256];	/* "" = no more */
	char		 description[2048];
	char		 details[4096];	/* a traceback, or "" */
};

/* fn is called once, never before this returns. */
void	 exc_read(void (*fn)(const struct exc *));
/* Result of this stop's latest exc_read(); known false = nothing. */
const struct exc *exc_latest(void);
void	 exc_forget(void);
/* Is it, or is its base, that type: "ValueError", "std::runtime_error"? */
bool	 exc_is(const struct exc *, const char *type);
/* {"id","description","details"}, or NULL. */
struct json_object *exc_json(const struct exc *);

#endif
