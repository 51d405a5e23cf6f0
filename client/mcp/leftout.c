/* SPDX-License-Identifier: ISC */
/* Variables of the environment that there was no room for. */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/args.h"
#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "leftout.h"
#include "mcp.h"

void
leftout_add(struct leftout *l, const char *variable)
{
	size_t used = strlen(l->names), len = strcspn(variable, "=");
	char name[LEFTOUT_NAMES];

	l->n++;
	if (used + len + 3 > sizeof(l->names))
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)len, variable);
	/* what is no text cannot be told */
	if (!args_is_text(name))
		return;
	(void)snprintf(l->names + used, sizeof(l->names) - used, "%s%s",
	    used > 0 ? ", " : "", name);
	l->named++;
}

char *
leftout_words(const struct leftout *l)
{
	char more[40] = "", *words;

	if (l->n == 0)
		return NULL;
	if (l->n > l->named)
		(void)snprintf(more, sizeof(more), "%s%zu more",
		    l->named > 0 ? " and " : "", l->n - l->named);
	if (asprintf(&words,
		"the program has not got all of the environment "
		"of " MCP_NAME
		", as a variable has at most 4096 bytes of UTF-8, "
		"and a message with all of them %u; left out: %s%s. What the "
		"program needs of them can be given in env",
		MCP_MESSAGE_MAX, l->names, more) == -1)
		err(CTL_USAGE, NULL);
	return words;
}

/* -- in answers ------------------------------------------------------------ */

static void
add_warning(struct json_object *o, const char *words)
{
	struct json_object *list;

	if (!json_object_object_get_ex(o, "warnings", &list)) {
		list = json_object_new_array();
		json_object_object_add(o, "warnings", list);
	}
	if (json_object_is_type(list, json_type_array))
		json_object_array_add(list, json_object_new_string(words));
}

/* The object that its text is, with the warning; NULL when it is no launch's.
 */
static struct json_object *
warned(struct json_object *content, const char *words)
{
	const char *text = reply_str(content, "text", "");
	struct json_object *o = reply_parse(text, strlen(text));

	if (!json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, "sessionId", NULL) ||
	    !json_object_object_get_ex(o, "pid", NULL)) {
		json_object_put(o);
		return NULL;
	}
	add_warning(o, words);
	return o;
}

static bool
tell_one(struct json_object *answer, const char *words)
{
	struct json_object *result, *content, *o;
	char *text;
	size_t len;

	if (!json_object_is_type(answer, json_type_object) ||
	    !json_object_object_get_ex(answer, "result", &result) ||
	    !json_object_object_get_ex(result, "content", &content) ||
	    !json_object_is_type(content, json_type_array))
		return false;
	content = json_object_array_get_idx(content, 0);
	if (!json_object_is_type(content, json_type_object) ||
	    (o = warned(content, words)) == NULL)
		return false;
	if ((text = reply_text(o, &len)) == NULL)
		err(CTL_USAGE, NULL);
	json_object_object_add(content, "text", json_object_new_string(text));
	free(text);
	if (json_object_object_get_ex(result, "structuredContent", NULL))
		json_object_object_add(result, "structuredContent", o);
	else
		json_object_put(o);
	return true;
}

char *
leftout_tell(const char *answer, size_t len, const char *words, size_t *told)
{
	struct json_object *o = reply_parse(answer, len);
	bool any = false;
	char *text = NULL;
	size_t i;

	if (json_object_is_type(o, json_type_array))
		for (i = 0; i < json_object_array_length(o); i++)
			any |= tell_one(json_object_array_get_idx(o, i), words);
	else
		any = tell_one(o, words);
	if (any && (text = reply_text(o, told)) == NULL)
		err(CTL_USAGE, NULL);
	json_object_put(o);
	return text;
}
