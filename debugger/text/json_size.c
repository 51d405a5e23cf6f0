/* SPDX-License-Identifier: ISC */
/* How long JSON is as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "base/utf8.h"
#include "json_size.h"

/* RFC 8259, 7: what must be escaped, and what has a short form. */
static size_t
char_size(char c)
{
	if (c != '\0' && strchr("\b\f\n\r\t\"\\", c) != NULL)
		return 2;
	return (unsigned char)c < ' ' ? 6 : 1;
}

static size_t
text_size(const char *s, size_t len)
{
	size_t i, n = 2;

	for (i = 0; i < len; i++)
		n += char_size(s[i]);
	return n;
}

/* A number beyond the signed range is an unsigned one. */
static size_t
int_size(struct json_object *o)
{
	uint64_t big = json_object_get_uint64(o);
	int64_t v = json_object_get_int64(o);

	return (size_t)(v >= 0 ? snprintf(NULL, 0, "%" PRIu64, big) :
				 snprintf(NULL, 0, "%" PRId64, v));
}

static size_t
array_size(struct json_object *o)
{
	size_t i, n = json_object_array_length(o), size = n == 0 ? 2 : n + 1;

	for (i = 0; i < n; i++)
		size += jsize(json_object_array_get_idx(o, i));
	return size;
}

static size_t
object_size(struct json_object *o)
{
	int n = json_object_object_length(o);
	size_t size = n == 0 ? 2 : (size_t)n + 1;

	json_object_object_foreach(o, key, value)
		size += text_size(key, strlen(key)) + 1 + jsize(value);
	return size;
}

size_t
jsize(struct json_object *o)
{
	size_t len;

	switch (json_object_get_type(o)) {
	case json_type_object:
		return object_size(o);
	case json_type_array:
		return array_size(o);
	case json_type_string:
		return text_size(json_object_get_string(o),
		    (size_t)json_object_get_string_len(o));
	case json_type_int:
		return int_size(o);
	case json_type_boolean:
		return json_object_get_boolean(o) ? 4 : 5;
	case json_type_double:
		/* short enough for the room that each text begins with */
		(void)json_object_to_json_string_length(o,
		    JSON_C_TO_STRING_PLAIN, &len);
		return len;
	case json_type_null:
		break;
	}
	return 4;
}

size_t
jsize_fit(const char *s, size_t len, size_t most)
{
	size_t at, n, cost, used = 0;

	for (at = 0; at < len; at += n > 0 ? n : 1) {
		n = utf8_sequence(s + at, len - at);
		cost = n == 0 ? 3 : n == 1 ? char_size(s[at]) : n;
		if (cost > most - used)
			break;
		used += cost;
	}
	return at;
}
