/* SPDX-License-Identifier: ISC */
/* Members of JSON objects that somebody else wrote: of any type, or none. */
#include <json-c/json.h>

#include "json_get.h"

static struct json_object *
member(struct json_object *o, const char *name, enum json_type type)
{
	struct json_object *v;

	if (o == NULL || !json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, name, &v) ||
	    !json_object_is_type(v, type))
		return NULL;
	return v;
}

const char *
jget_str(struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name, json_type_string);

	return v == NULL ? NULL : json_object_get_string(v);
}

bool
jget_int(struct json_object *o, const char *name, int64_t *value)
{
	struct json_object *v = member(o, name, json_type_int);

	if (v == NULL)
		return false;
	*value = json_object_get_int64(v);
	return true;
}

int64_t
jget_num(struct json_object *o, const char *name, int64_t otherwise)
{
	jget_int(o, name, &otherwise);
	return otherwise;
}

bool
jget_bool(struct json_object *o, const char *name)
{
	struct json_object *v = member(o, name, json_type_boolean);

	return v != NULL && json_object_get_boolean(v);
}

struct json_object *
jget_obj(struct json_object *o, const char *name)
{
	return member(o, name, json_type_object);
}

struct json_object *
jget_arr(struct json_object *o, const char *name)
{
	return member(o, name, json_type_array);
}

size_t
jlen(struct json_object *arr)
{
	return arr == NULL ? 0 : json_object_array_length(arr);
}

struct json_object *
jat(struct json_object *arr, size_t i)
{
	return i < jlen(arr) ? json_object_array_get_idx(arr, i) : NULL;
}
