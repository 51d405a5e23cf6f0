/* SPDX-License-Identifier: ISC */
/* Answers of the daemon: JSON values and what they hold. */
#ifndef CLIENT_LIB_REPLY_H
#define CLIENT_LIB_REPLY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A JSON object or array, the caller's; NULL when the text is none. */
struct json_object *reply_parse(const char *text, size_t len);

/* The error code of {"ok":false,...}, borrowed; NULL for any other answer. */
const char *reply_error(struct json_object *);

/* Error code and message on stderr, or the answer itself when json is set. */
void	reply_report(struct json_object *, bool as_json);

/*
 * Prints a line of JSON. Characters that a terminal would obey are written as
 * \uXXXX, so that the JSON is still the same.
 */
void	reply_print(struct json_object *, FILE *);

/* The same as text without its LF, the caller's to free; NULL when memory is
 * short. */
char	*reply_text(struct json_object *, size_t *lenp);

/* A member as text: dflt when it is missing, null or no string. Borrowed. */
const char *reply_str(struct json_object *, const char *key,
	    const char *dflt);

/* Whether a member is there and true. */
bool	reply_true(struct json_object *, const char *key);

/* A member that is a whole number; false when it is missing or none. */
bool	reply_int(struct json_object *, const char *key, int64_t *);

#endif
