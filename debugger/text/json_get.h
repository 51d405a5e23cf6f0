/* SPDX-License-Identifier: ISC */
/* Members of JSON objects that somebody else wrote: of any type, or none. */
#ifndef DEBUGGER_TEXT_JSON_GET_H
#define DEBUGGER_TEXT_JSON_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

/* Each is harmless with NULL for the object.  All are borrowed. */
const char *jget_str(struct json_object *, const char *name);	/* or NULL */
bool	 jget_int(struct json_object *, const char *name, int64_t *);
int64_t	 jget_num(struct json_object *, const char *name, int64_t otherwise);
bool	 jget_bool(struct json_object *, const char *name);	/* or false */
struct json_object *jget_obj(struct json_object *, const char *name);
struct json_object *jget_arr(struct json_object *, const char *name);
/* 0 for NULL. */
size_t	 jlen(struct json_object *arr);
struct json_object *jat(struct json_object *arr, size_t);

#endif
