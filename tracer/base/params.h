/* SPDX-License-Identifier: ISC */
/*
 * Members of a request's arguments, one row of a table each.  A member that is
 * not in the table is refused by its name.  A member of another kind or out of
 * bounds is refused with words that say what would be right.
 */
#ifndef TRACER_PARAMS_H
#define TRACER_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARAMS_WHY	320	/* bytes of a reason */

struct json_object;

enum param_kind {
	PARAM_STRING,	/* const char *, borrowed from the arguments */
	PARAM_STRINGS,	/* struct json_object *, an array of strings */
	PARAM_PAIRS,	/* the same, an object of strings */
	PARAM_OBJECT,	/* the same, any object */
	PARAM_BOOL,	/* bool */
	PARAM_NUMBER	/* int64_t, from least to most */
};

struct param {
	const char	*name;		/* NULL = the end of the table */
	enum param_kind	 kind;
	size_t		 off;		/* where its value goes */
	bool		 need;
	/* of a number; most is also of bytes and members, 0 = no bound */
	int64_t		 least, most;
};

/*
 * Puts the members of args (an object, borrowed; NULL = empty) into *to.
 * Absent members leave *to alone.  -1 with words in why; what names the
 * request.  "sessionId" is how a request has come here: always taken.
 */
int	params_read(struct json_object *args, const char *what,
	    const struct param *, void *to, char why[PARAMS_WHY]);

#endif
