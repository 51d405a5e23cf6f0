/* SPDX-License-Identifier: ISC */
/* JSON that the engine makes. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/log.h"
#include "base/utf8.h"
#include "clean.h"
#include "json_make.h"
#include "json_size.h"

/* There is always a reason in errno: it is malloc's. */
static struct json_object *
made(struct json_object *o)
{
	if (o == NULL)
		fatal("JSON");
	return o;
}

struct json_object *
jobject(void)
{
	return made(json_object_new_object());
}

struct json_object *
jarray(void)
{
	return made(json_object_new_array());
}

struct json_object *
jint(int64_t v)
{
	return made(json_object_new_int64(v));
}

struct json_object *
jbool(bool v)
{
	return made(json_object_new_boolean(v));
}

struct json_object *
jtext(const char *s)
{
	return made(json_object_new_string(s));
}

struct json_object *
jtext_len(const char *s, size_t len)
{
	if (len > INT_MAX)
		fatalx("a text of %zu bytes", len);
	return made(json_object_new_string_len(s, (int)len));
}

struct json_object *
jtext_clean(const char *s, size_t len)
{
	struct json_object *o;
	char *clean;

	if (utf8_valid(s, len))
		return jtext_len(s, len);
	if ((clean = utf8_clean(s, &len)) == NULL)
		fatal("text");
	o = jtext_len(clean, len);
	free(clean);
	return o;
}

const char *
jwrite(struct json_object *o, size_t *len)
{
	const char *text = json_object_to_json_string_length(o,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, len);

	/* it tells nobody that there was no memory for a part */
	if (text == NULL || *len != jsize(o)) {
		errno = ENOMEM;
		fatal("JSON");
	}
	return text;
}

void
jadd(struct json_object *array, struct json_object *v)
{
	if (json_object_array_add(array, v) != 0)
		fatal("JSON");
}

void
jput_str(struct json_object *o, const char *name, const char *s)
{
	if (s != NULL)
		jput(o, name, jtext_clean(s, strlen(s)));
}

void
jput_int(struct json_object *o, const char *name, int64_t v)
{
	jput(o, name, jint(v));
}

void
jput_bool(struct json_object *o, const char *name, bool v)
{
	jput(o, name, jbool(v));
}

void
jput(struct json_object *o, const char *name, struct json_object *v)
{
	if (json_object_object_add(o, name, v) != 0)
		fatal("JSON");
}

void
jput_fmt(struct json_object *o, const char *name, const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		fatal("JSON");
	va_end(ap);
	jput_str(o, name, s);
	free(s);
}

struct json_object *
jone_int(const char *name, int64_t v)
{
	struct json_object *o = jobject();

	jput_int(o, name, v);
	return o;
}

struct json_object *
jone_str(const char *name, const char *v)
{
	struct json_object *o = jobject();

	jput(o, name, jtext(v));
	return o;
}
