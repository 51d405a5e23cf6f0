/* SPDX-License-Identifier: ISC */
/*
 * The strictness that json-c lacks: it takes NaN, quotes of both kinds, lone
 * surrogates and control characters, rounds numbers that are too large, and
 * lets the last of two members of one name win.
 */
#ifndef DL_NET_JSONLEX_H
#define DL_NET_JSONLEX_H

#include <stdbool.h>
#include <stddef.h>

struct jsonlex {
	size_t		 members;	/* of all objects together */
	size_t		 at;		/* bytes until what is wrong */
	/* jsonlex_request(): an object that is passed on; length 0 = none */
	size_t		 passed_at, passed_len;
	bool		 in_args;	/* it is a member of "args" */
};

/*
 * Looks at the tokens of a text, not at their order.  NULL for "good", else
 * a static string that says what is wrong.  Bounds how much memory a parser
 * can need: objects, arrays and members are few.
 */
const char *jsonlex_check(const char *, size_t, struct jsonlex *);
/*
 * The same of a text in which one object may be passed on instead of parsed:
 * "request", of the text's object or of its "args".  Within that one, which
 * *result says, there may be as much as within an answer.
 */
const char *jsonlex_request(const char *, size_t, struct jsonlex *);
/*
 * The same of a request that is passed on: as long as it likes, but one
 * object whose brackets match, so that what stands around it stays around it.
 */
const char *jsonlex_passed(const char *, size_t);
/*
 * The same of an answer.  Its texts may hold NULs: a program may write one, or
 * have it in a string, and nobody here takes an answer's texts for strings.
 */
const char *jsonlex_answer(const char *, size_t);
/* The same of a single value of any kind and length, all of it JSON. */
const char *jsonlex_value(const char *, size_t);

#endif
