/* SPDX-License-Identifier: ISC */
/* The answers of OUTPUT and FOLLOW, decoded. */
#include <bsd/string.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "follow.h"
#include "reply.h"
#include "report.h"

int
signal_number(const char *name)
{
	const char *abbrev;
	int i;

	if (strncmp(name, "SIG", 3) != 0)
		return 0;
	name += 3;
	for (i = 1; i < NSIG; i++)
		if ((abbrev = sigabbrev_np(i)) != NULL &&
		    strcmp(abbrev, name) == 0)
			return i;
	/* Real-time signals have numbers, not names. */
	i = atoi(name);
	return i > 0 && i < NSIG ? i : 0;
}

static int
decode_data(struct json_object *json, struct follow_event *e)
{
	struct json_object *v;
	const char *text;
	size_t len;

	if (!json_object_object_get_ex(json, "output", &v) ||
	    !json_object_is_type(v, json_type_string))
		return 0;
	text = json_object_get_string(v);
	len = (size_t)json_object_get_string_len(v);
	/* the text is not shorter than its bytes */
	if ((e->data = malloc(len + 1)) == NULL)
		return -1;
	/* A daemon that knows only text answers text. */
	if (strcmp(reply_str(json, "encoding", ""), "base64") != 0) {
		memcpy(e->data, text, len);
		e->len = len;
	} else if (!base64_get(text, len, e->data, &e->len))
		return -1;
	e->has_data = true;
	return 0;
}

static void
decode_end(struct json_object *json, struct follow_event *e)
{
	const char *sig = reply_str(json, "signal", NULL);
	int64_t code = 0;

	if (sig != NULL) {
		e->exit_code = 128 + signal_number(sig);
		strlcpy(e->signal, sig, sizeof(e->signal));
	} else if (reply_int(json, "exit_code", &code))
		e->exit_code = (int)(code & 0xff);
	e->out_of_memory = reply_true(json, "out_of_memory");
}

int
follow_decode(struct json_object *json, struct follow_event *e)
{
	struct json_object *final;
	int64_t offset, total, next;

	memset(e, 0, sizeof(*e));
	if (!reply_int(json, "offset", &offset) || offset < 0 ||
	    !reply_int(json, "total", &total) || total < 0 ||
	    decode_data(json, e) == -1)
		goto fail;
	e->offset = (uint64_t)offset;
	e->total = (uint64_t)total;
	/* said where the text does not have as many bytes */
	e->next = reply_int(json, "next", &next) && next >= offset ?
	    (uint64_t)next : e->offset + e->len;
	e->to_stderr = strcmp(reply_str(json, "stream", ""), "err") == 0;
	e->final = json_object_object_get_ex(json, "final", &final) &&
	    json_object_get_boolean(final);
	/* a line that says nothing would be waited behind for ever */
	if (!e->final && !e->has_data)
		goto fail;
	if (e->final)
		decode_end(json, e);
	return 0;
fail:
	report("the answer is not output of a session");
	follow_event_clear(e);
	return -1;
}

void
follow_event_clear(struct follow_event *e)
{
	free(e->data);
	e->data = NULL;
	e->len = 0;
}
