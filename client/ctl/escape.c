/* SPDX-License-Identifier: ISC */
/* The escape character of attached terminals, as rlogin(1) began it. */
#include <string.h>

#include "escape.h"

#define CTRL(c)		((c) & 0x1f)

void
escape_init(struct escape *e, int key)
{
	e->key = key;
	e->at_line = true;
	e->pending = false;
}

/* The key behind the escape character. true: it was a command. */
static bool
command(struct escape *e, unsigned char c, enum escape_event *event)
{
	static const struct {
		unsigned char		key;
		enum escape_event	event;
	} commands[] = {
		{ '.', ESCAPE_DETACH }, { CTRL('z'), ESCAPE_SUSPEND },
		{ '?', ESCAPE_HELP },
	};
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].key == c) {
			*event = commands[i].event;
			/* they are typed one after the other, too */
			e->at_line = true;
			return true;
		}
	return false;
}

enum escape_event
escape_feed(struct escape *e, const unsigned char *in, size_t *lenp,
    unsigned char *out, size_t *outlenp)
{
	enum escape_event event = ESCAPE_NOTHING;
	size_t i, n = 0;
	bool was_pending;

	for (i = 0; i < *lenp && event == ESCAPE_NOTHING; i++) {
		was_pending = e->pending;
		e->pending = false;
		if (was_pending && command(e, in[i], &event))
			continue;
		if (was_pending && in[i] != e->key)
			out[n++] = (unsigned char)e->key;
		else if (!was_pending && e->at_line && in[i] == e->key) {
			e->pending = true;
			continue;
		}
		out[n++] = in[i];
		e->at_line = in[i] == '\r' || in[i] == '\n';
	}
	*lenp = i;
	*outlenp = n;
	return event;
}

int
escape_parse(const char *text)
{
	if (strcmp(text, "none") == 0)
		return ESCAPE_NONE;
	if (text[0] == '^' && text[1] >= '?' && text[1] <= '_' &&
	    text[2] == '\0')
		return text[1] == '?' ? 0x7f : CTRL(text[1]);
	if (text[0] > ' ' && text[0] < 0x7f && text[1] == '\0')
		return text[0];
	return -2;
}
