/* SPDX-License-Identifier: ISC */
/*
 * Looks into JSON where it lies: no copy is made, and no memory asked for.  A
 * value is the text of it, without blanks around; all of it must be good by
 * jsonlex_value().
 */
#ifndef DL_NET_JSONWALK_H
#define DL_NET_JSONWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "line.h"

/* The one value of a text. */
struct word json_whole(const char *, size_t);
/* '{', '[', '"', 't' or 'f', 'n', or '0' for numbers; '\0' = there is none. */
char	 json_kind(const struct word *);

/* Unread rest of an object or array; begin with the value. */
struct json_walk {
	const char	*p, *end;
};

void	 json_walk(struct json_walk *, const struct word *value);
/* False at the end.  A key is a string as it stands there. */
bool	 json_walk_member(struct json_walk *, struct word *key,
	    struct word *value);
bool	 json_walk_item(struct json_walk *, struct word *value);

enum json_found { JSON_NONE, JSON_ONE, JSON_TWICE };
/* The member of an object; JSON_NONE also where that is no object. */
enum json_found json_member(const struct word *object, const char *name,
    struct word *value);
/* How many members or items. */
size_t	 json_count(const struct word *);

/* Whether a string says that. */
bool	 json_says(const struct word *string, const char *);
/*
 * Decodes a string into buf, NUL-terminated; returns its length.  SIZE_MAX when
 * the value is no string or buf is too small.
 */
size_t	 json_unquote(const struct word *string, char *buf, size_t size);

#endif
