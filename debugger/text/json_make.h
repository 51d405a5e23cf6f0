/* SPDX-License-Identifier: ISC */
/*
 * JSON that the engine makes.  Without memory for a part of it the debugger
 * ends, and the session is told so: what lacks a part says something else, and
 * may be waited for in vain.
 */
#ifndef DEBUGGER_TEXT_JSON_MAKE_H
#define DEBUGGER_TEXT_JSON_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

struct json_object *jobject(void);
struct json_object *jarray(void);
struct json_object *jint(int64_t);
struct json_object *jbool(bool);
/* The text must be valid UTF-8. */
struct json_object *jtext(const char *);
struct json_object *jtext_len(const char *, size_t len);
/* Bytes that are not UTF-8 become U+FFFD. */
struct json_object *jtext_clean(const char *, size_t len);

/* Takes the value. */
void	 jadd(struct json_object *array, struct json_object *);
/* Text of others is made valid UTF-8; NULL adds nothing. */
void	 jput_str(struct json_object *, const char *name, const char *);
void	 jput_int(struct json_object *, const char *name, int64_t);
void	 jput_bool(struct json_object *, const char *name, bool);
/* Takes the value. */
void	 jput(struct json_object *, const char *name, struct json_object *);
/* "name": printf */
void	 jput_fmt(struct json_object *, const char *name, const char *, ...)
	    __attribute__((format(printf, 3, 4)));
/* An object of one member, for requests. */
struct json_object *jone_int(const char *name, int64_t);
struct json_object *jone_str(const char *name, const char *);

/* On one line, without spaces; lasts until the object is written again. */
const char *jwrite(struct json_object *, size_t *len);

#endif
