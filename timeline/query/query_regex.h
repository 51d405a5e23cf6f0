/* SPDX-License-Identifier: ISC */
/*
 * Regular expressions in time linear in the text, whatever the pattern: all
 * states are followed at once (Thompson), there is no backtracking.  The
 * syntax is what RE2 and its kin have in common, over UTF-8:
 *
 *	. [a-z] [^..] [[:alpha:]] \d \w \s \D \W \S \xHH \x{HHHH} \n \t \r
 *	^ $ \b \B   (..) (?:..) a|b   * + ? {n} {n,} {n,m}, and each with ?
 *	(?i) at the beginning: ASCII letters match either case
 *
 * Back references and look-around are refused: they cannot be had in linear
 * time.
 */
#ifndef TIMELINE_QUERY_REGEX_H
#define TIMELINE_QUERY_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#define REGEX_PATTERN_MAX 1000	/* bytes */
#define REGEX_WHY	160

struct regex;

/* NULL with words in why. */
struct regex *regex_new(const char *pattern, size_t len, char why[REGEX_WHY]);
/* Whether it matches somewhere in the text. */
bool	 regex_match(struct regex *, const char *text, size_t len);
void	 regex_free(struct regex *);

#endif
