/* SPDX-License-Identifier: ISC */
/* Answers of the daemon. They are taken for what they are: text from
 * somebody else, checked before anything is done with it. */
#include <stdlib.h>
#include <string.h>

#include "reply.h"
#include "report.h"

struct json_object *
reply_parse(const char *text, size_t len)
{
	struct json_object *json;
	struct json_tokener *tok;
	size_t used;

	if (len > INT32_MAX || (tok = json_tokener_new()) == NULL)
		return NULL;
	json = json_tokener_parse_ex(tok, text, (int)len);
	used = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	while (used < len && strchr(" \t\r", text[used]) != NULL &&
	    text[used] != '\0')
		used++;
	if (used == len && (json_object_is_type(json, json_type_object) ||
	    json_object_is_type(json, json_type_array)))
		return json;
	json_object_put(json);
	return NULL;
}

const char *
reply_error(struct json_object *json)
{
	struct json_object *ok;

	if (!json_object_is_type(json, json_type_object) ||
	    !json_object_object_get_ex(json, "ok", &ok) ||
	    json_object_get_boolean(ok))
		return NULL;
	return reply_str(json, "error_code", "error");
}

void
reply_report(struct json_object *json, bool as_json)
{
	if (as_json)
		reply_print(json, stderr);
	else
		report("%s: %s%s", reply_error(json),
		    reply_str(json, "message", "no reason given"),
		    strcmp(reply_error(json), "auth_required") == 0 ?
		    " (see login, --token-file and $DEBUGLANTERN_TOKEN)" :
		    "");
}

void
reply_print(struct json_object *json, FILE *out)
{
	const char *s = json_object_to_json_string_ext(json,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	unsigned char c;

	for (; (c = (unsigned char)*s) != '\0'; s++) {
		/* C1 controls are C2 80 to C2 9F. */
		if (c == 0xc2 && ((unsigned char)s[1] & 0xe0) == 0x80)
			fprintf(out, "\\u00%02x", (unsigned char)*++s);
		else if (c == 0x7f || c < 0x20)
			fprintf(out, "\\u00%02x", c);
		else
			fputc(c, out);
	}
	fputc('\n', out);
}

char *
reply_text(struct json_object *json, size_t *lenp)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, lenp);

	if (out == NULL)
		return NULL;
	reply_print(json, out);
	if (fclose(out) != 0 || *lenp == 0) {
		free(text);
		return NULL;
	}
	text[--*lenp] = '\0';
	return text;
}

const char *
reply_str(struct json_object *json, const char *key, const char *dflt)
{
	struct json_object *v;

	if (!json_object_is_type(json, json_type_object) ||
	    !json_object_object_get_ex(json, key, &v) ||
	    !json_object_is_type(v, json_type_string))
		return dflt;
	return json_object_get_string(v);
}

bool
reply_true(struct json_object *json, const char *key)
{
	struct json_object *v;

	return json_object_is_type(json, json_type_object) &&
	    json_object_object_get_ex(json, key, &v) &&
	    json_object_get_boolean(v);
}

bool
reply_int(struct json_object *json, const char *key, int64_t *np)
{
	struct json_object *v;

	if (!json_object_is_type(json, json_type_object) ||
	    !json_object_object_get_ex(json, key, &v) ||
	    !json_object_is_type(v, json_type_int))
		return false;
	*np = json_object_get_int64(v);
	return true;
}
