/* SPDX-License-Identifier: ISC */
/* The arguments of a request in JSON. It holds characters; what is none of
 * them cannot go that way. */
#include <stdint.h>
#include <string.h>

#include "args.h"
#include "base/utf8.h"
#include "report.h"

bool
args_is_text(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n, len = strlen(text);
	uint32_t cp;

	for (; len > 0; p += n, len -= n) {
		n = utf8_decode(p, len, &cp);
		if (n == 0 || n == UTF8_INCOMPLETE)
			return false;
	}
	return true;
}

int
args_check(const char *text)
{
	if (args_is_text(text))
		return 0;
	report("\"%s\" is not UTF-8", text);
	return -1;
}

int
args_text(struct json_object *o, const char *key, const char *text)
{
	if (text == NULL)
		return 0;
	if (args_check(text) == -1)
		return -1;
	json_object_object_add(o, key, json_object_new_string(text));
	return 0;
}

int
args_list(struct json_object *o, const char *key, char **list)
{
	struct json_object *array = json_object_new_array();

	json_object_object_add(o, key, array);
	for (; *list != NULL; list++) {
		if (args_check(*list) == -1)
			return -1;
		json_object_array_add(array, json_object_new_string(*list));
	}
	return 0;
}

void
args_number(struct json_object *o, const char *key, long long n)
{
	json_object_object_add(o, key, json_object_new_int64(n));
}

void
args_true(struct json_object *o, const char *key)
{
	json_object_object_add(o, key, json_object_new_boolean(1));
}
