/* SPDX-License-Identifier: ISC */
/* Lines of standard input, of any length. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/report.h"
#include "mcp.h"

/* -- what is too long ------------------------------------------------------ */

/* A name has ended: it is one of those that count, or none. */
static void
end_name(struct mcp_long *l)
{
	l->taking = l->depth == 1 && l->name_len == 2 &&
	    memcmp(l->name, "id", 2) == 0 && !l->taken;
	l->method |= l->depth == 1 && l->name_len == 6 &&
	    memcmp(l->name, "method", 6) == 0;
}

static void
keep(struct mcp_long *l, char c)
{
	if (l->id_len < sizeof(l->id))
		l->id[l->id_len++] = c;
	else
		l->taking = false;
}

static void
in_string(struct mcp_long *l, char c)
{
	if (l->taking)
		keep(l, c);
	if (l->escaped)
		l->escaped = false;
	else if (c == '\\')
		l->escaped = true;
	else if (c == '"') {
		l->in_string = false;
		if (l->is_key)
			end_name(l);
		return;
	}
	/* a name that is longer is not one of those */
	if (l->is_key && l->name_len < sizeof(l->name))
		l->name[l->name_len++] = c;
}

static void
begin_string(struct mcp_long *l)
{
	l->in_string = true;
	l->is_key = l->depth == 1 && l->object && l->at_key;
	l->at_key = false;
	l->name_len = 0;
	if (l->taking)
		keep(l, '"');
}

static void
outside(struct mcp_long *l, char c)
{
	if (c == '"')
		begin_string(l);
	else if (c == '{' || c == '[') {
		if (l->depth++ == 0)
			l->object = l->at_key = c == '{';
		/* an object is no id */
		l->taking = false;
	} else if (c == '}' || c == ']' || c == ',') {
		l->taken |= l->taking;
		l->taking = false;
		l->at_key = c == ',';
		if (c != ',' && l->depth > 0)
			l->depth--;
	} else if (l->taking && c != ':' && c != ' ' && c != '\t' && c != '\r')
		keep(l, c);
}

void
mcp_long_feed(struct mcp_long *l, const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (l->in_string)
			in_string(l, p[i]);
		else
			outside(l, p[i]);
}

/* Half a surrogate pair is a text to its client, but none to our parser. */
static void
write_as_it_came(struct json_object *id, const struct mcp_long *l)
{
	char *text = strndup(l->id, l->id_len);

	if (text != NULL)
		json_object_set_serializer(id,
		    json_object_userdata_to_json_string, text,
		    json_object_free_userdata);
}

struct json_object *
mcp_long_id(const struct mcp_long *l)
{
	struct json_tokener *tok;
	struct json_object *id = NULL;

	if (!l->taken || (tok = json_tokener_new()) == NULL)
		return NULL;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	id = json_tokener_parse_ex(tok, l->id, (int)l->id_len);
	/* a number may go on, as far as the parser knows */
	if (id == NULL && json_tokener_get_error(tok) == json_tokener_continue)
		id = json_tokener_parse_ex(tok, " ", 1);
	json_tokener_free(tok);
	if (json_object_is_type(id, json_type_string))
		write_as_it_came(id, l);
	if (json_object_is_type(id, json_type_string) ||
	    json_object_is_type(id, json_type_int))
		return id;
	json_object_put(id);
	return NULL;
}

/* -- lines ----------------------------------------------------------------- */

bool
mcp_input_read(struct mcp_input *in)
{
	size_t room = sizeof(in->buf) - 1 - in->len;
	ssize_t n = read(STDIN_FILENO, in->buf + in->len, room);

	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n == -1)
		report("standard input: %s", strerror(errno));
	if (n <= 0) {
		in->ended = true;
		return false;
	}
	in->len += (size_t)n;
	return true;
}

/* Its bytes are gone at the next call. */
static void
skip(struct mcp_input *in, size_t n)
{
	memmove(in->buf, in->buf + n, in->len - n);
	in->len -= n;
}

static void
swallow(struct mcp_input *in, size_t n)
{
	if (!in->skipping)
		memset(&in->over, 0, sizeof(in->over));
	in->skipping = true;
	mcp_long_feed(&in->over, in->buf, n);
	skip(in, n);
}

char *
mcp_input_line(struct mcp_input *in, size_t *lenp,
    const struct mcp_long **over)
{
	static char line[MCP_MESSAGE_MAX + 1];
	char *nl = memchr(in->buf, '\n', in->len);
	size_t len = nl == NULL ? in->len : (size_t)(nl - in->buf);

	*over = NULL;
	*lenp = 0;
	if (nl == NULL && !in->ended) {
		if (in->skipping || in->len == sizeof(in->buf) - 1)
			swallow(in, in->len);
		return NULL;
	}
	/* what is left at the end is a line, too */
	if (nl == NULL && len == 0 && !in->skipping)
		return NULL;
	line[0] = '\0';
	if (in->skipping) {
		swallow(in, len);
		in->skipping = false;
		*over = &in->over;
	} else {
		memcpy(line, in->buf, len);
		line[len] = '\0';
		*lenp = len;
		skip(in, len);
	}
	if (nl != NULL)
		skip(in, 1);
	return line;
}
