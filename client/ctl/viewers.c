/* SPDX-License-Identifier: ISC */
/* People at a terminal. Names come from elsewhere and are made harmless. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/reply.h"
#include "client/lib/safe.h"
#include "viewers.h"

void
viewers_init(struct viewers *p)
{
	memset(p, 0, sizeof(*p));
	p->controller = true;
}

void
viewers_clear(struct viewers *p)
{
	json_object_put(p->list);
	p->list = NULL;
}

void
viewers_set(struct viewers *p, const void *json, size_t len)
{
	struct json_object *list = reply_parse(json, len), *o;
	size_t i;

	if (!json_object_is_type(list, json_type_array)) {
		json_object_put(list);
		return;
	}
	json_object_put(p->list);
	p->list = list;
	p->controller = false;
	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (!reply_true(o, "you"))
			continue;
		p->controller = reply_true(o, "controller");
		p->read_only = strcmp(reply_str(o, "role", ""), "ro") == 0;
	}
}

static void
put_person(struct json_object *o, FILE *out)
{
	char *user = safe_string(reply_str(o, "user", "?"));

	fprintf(out, "  %s%s%s%s\r\n", user, reply_true(o, "you") ? " (you)" : "",
	    strcmp(reply_str(o, "role", ""), "ro") == 0 ? ", read-only" : "",
	    reply_true(o, "controller") ? ", sets the size" : "");
	free(user);
}

static void
put_key(char *buf, size_t size, int key)
{
	if (key < 0x20 || key == 0x7f)
		snprintf(buf, size, "^%c", key ^ 0x40);
	else
		snprintf(buf, size, "%c", key);
}

char *
viewers_text(const struct viewers *p, const char *id, int escape,
    bool read_only)
{
	char *text = NULL, *safe, key[8];
	size_t size, i;
	FILE *out;

	if ((out = open_memstream(&text, &size)) == NULL)
		return NULL;
	safe = safe_string(id);
	put_key(key, sizeof(key), escape);
	fprintf(out, "%s?\r\nAt the beginning of a line:\r\n"
	    "  %s.   detach; the session goes on\r\n"
	    "  %s^Z  suspend this client\r\n"
	    "  %s%s   send %s\r\n"
	    "Session %s", key, key, key, key, key, key, safe);
	if (p->cols > 0)
		fprintf(out, ", %ux%u", p->cols, p->rows);
	fprintf(out, "%s:\r\n", read_only ? ", watched only" : "");
	for (i = 0; p->list != NULL &&
	    i < json_object_array_length(p->list); i++)
		put_person(json_object_array_get_idx(p->list, i), out);
	free(safe);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
