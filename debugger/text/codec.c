/* SPDX-License-Identifier: ISC */
/*
 * Frames from an adapter, which is as hostile as the program it debugs: every
 * length is bounded, and what is too long is passed over, not held.
 */
#include <json-c/json.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "codec.h"

#define KEEP	((size_t)64 << 10)	/* of memory between messages */
#define NUMBER	"0123456789.eE+-"	/* what it is made of */

static int
room(struct codec *c, size_t need)
{
	size_t cap = c->cap == 0 ? 4096 : c->cap;
	char *p;

	while (cap < need)
		cap *= 2;
	if (cap == c->cap)
		return 0;
	if ((p = realloc(c->buf, cap)) == NULL)
		return -1;
	c->buf = p;
	c->cap = cap;
	return 0;
}

/* Empties; gives memory back that only a rare message needs. */
static void
again(struct codec *c)
{
	c->len = c->body = 0;
	if (c->cap > KEEP) {
		free(c->buf);
		c->buf = NULL;
		c->cap = 0;
	}
}

/*
 * How many values a text has at most, by its commas and brackets outside of
 * strings.  A parser makes a hundred bytes of each, whatever its length.  Ours
 * takes comments and other quotes as well, which no JSON has and which would
 * have to be counted as it reads them.  NULL, or why it is not to be read.
 */
static const char *
objection(const char *s, size_t len)
{
	size_t i, n = 0;
	bool quoted = false;

	for (i = 0; i < len; i++) {
		if (s[i] == '"')
			quoted = !quoted;
		else if (quoted && s[i] == '\\')
			i++;
		else if (!quoted && (s[i] == '\'' || s[i] == '/'))
			return "it is not JSON";
		else if (!quoted && (s[i] == ',' || s[i] == '[' || s[i] == '{'))
			n++;
	}
	return n > CODEC_VALUES_MAX ? "it has too many values" : NULL;
}

/* How much of a text that begins outside of strings: to its first number. */
static size_t
piece(const char *s, size_t len)
{
	size_t i;
	bool digit = false, quoted = false;

	for (i = 0; i < len; i++) {
		if (s[i] == '"')
			quoted = !quoted;
		else if (quoted && s[i] == '\\')
			i++;
		else if (!quoted && digit && strchr(NUMBER, s[i]) == NULL)
			return i;
		digit = !quoted && isdigit((unsigned char)s[i]);
	}
	return len;
}

/*
 * The parser tells nobody what it had no memory for; errno does, but is set to
 * 0 at what stands behind a number.  So it is looked at before each of those.
 */
static struct json_object *
parse(struct json_tokener *tok, const char *text, size_t len)
{
	struct json_object *json;
	size_t n, at = 0;

	do {
		n = piece(text + at, len - at);
		errno = 0;
		json = json_tokener_parse_ex(tok, text + at, (int)n);
		if (errno == ENOMEM)
			fatal("JSON");
		at += n;
	} while (at < len &&
	    json_tokener_get_error(tok) == json_tokener_continue);
	return json;
}

struct json_object *
codec_parse(const char *text, size_t len, const char **why)
{
	struct json_tokener *tok;
	struct json_object *json = NULL;

	*why = "it is too long";
	if (len > INT_MAX || (*why = objection(text, len)) != NULL)
		return NULL;
	if ((tok = json_tokener_new_ex(CODEC_DEPTH_MAX)) == NULL)
		fatal("JSON");
	json = parse(tok, text, len);
	*why = "it is not JSON";
	if (json_tokener_get_error(tok) != json_tokener_success ||
	    !json_object_is_type(json, json_type_object)) {
		json_object_put(json);
		json = NULL;
	}
	json_tokener_free(tok);
	return json;
}

/* The number after "request_seq", wherever it stands; -1 = none. */
static int64_t
seq_of(const char *s, size_t len)
{
	static const char name[] = "\"request_seq\"";
	const char *p = memmem(s, len, name, sizeof(name) - 1), *end = s + len;
	int64_t n = 0;

	if (p == NULL)
		return -1;
	for (p += sizeof(name) - 1; p < end && strchr(" :\t", *p) != NULL; p++)
		;
	if (p == end || !isdigit((unsigned char)*p))
		return -1;
	for (; p < end && isdigit((unsigned char)*p) && n < INT32_MAX; p++)
		n = n * 10 + (*p - '0');
	return n;
}

/* Adapters put the number first or last, and the body between. */
static int64_t
seq_in(const char *head, size_t nhead, const char *tail, size_t ntail)
{
	int64_t seq = seq_of(head, nhead);

	return seq != -1 ? seq : seq_of(tail, ntail);
}

static int
finish(struct codec *c, const struct codec_fns *fns, void *arg)
{
	size_t edge = c->len < CODEC_EDGE ? c->len : CODEC_EDGE;
	struct json_object *json;
	const char *why;
	int rc = 0;

	if ((json = codec_parse(c->buf, c->len, &why)) == NULL)
		fns->left_out(why, seq_in(c->buf, edge,
		    c->buf + c->len - edge, edge), arg);
	else
		rc = fns->message(json, c->buf, c->len, arg);
	json_object_put(json);
	again(c);
	return rc;
}

/* Digits, and nothing beside blanks around them.  -1 = something else. */
static int
length(const char *s, const char *end, uint64_t *n)
{
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	if (s == end || !isdigit((unsigned char)*s))
		return -1;
	for (*n = 0; s < end && isdigit((unsigned char)*s); s++) {
		if (*n > UINT32_MAX)
			return -1;
		*n = *n * 10 + (uint64_t)(*s - '0');
	}
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return s == end ? 0 : -1;
}

/* The header is whole: len bytes with CRLF behind each line. */
static int
read_header(const char *s, size_t len, uint64_t *n)
{
	static const char name[] = "content-length:";
	const char *end, *last = s + len;
	bool have = false;

	for (; s < last; s = end + 2) {
		if ((end = memmem(s, (size_t)(last - s), "\r\n", 2)) == NULL)
			return -1;
		if ((size_t)(end - s) < sizeof(name) - 1 ||
		    strncasecmp(s, name, sizeof(name) - 1) != 0)
			continue;
		if (have || length(s + sizeof(name) - 1, end, n) == -1)
			return -1;
		have = true;
	}
	return have && *n > 0 ? 0 : -1;
}

/* Takes bytes of a header; *used how many. */
static int
header(struct codec *c, const char *p, size_t n, size_t *used)
{
	uint64_t want = 0;

	for (*used = 0; *used < n;) {
		if (c->len == CODEC_HEADER_MAX || room(c, c->len + 1) == -1)
			return -1;
		c->buf[c->len++] = p[(*used)++];
		if (c->len < 4 || memcmp(c->buf + c->len - 4, "\r\n\r\n", 4) != 0)
			continue;
		if (read_header(c->buf, c->len - 2, &want) == -1)
			return -1;
		c->len = 0;
		if (want <= CODEC_FRAME_MAX)
			c->body = (size_t)want;
		else
			c->huge = c->skip = (size_t)want;
		c->nhead = c->ntail = 0;
		return 0;
	}
	return 0;
}

static void
keep_tail(struct codec *c, const char *p, size_t n)
{
	size_t drop;

	if (n > CODEC_EDGE) {
		p += n - CODEC_EDGE;
		n = CODEC_EDGE;
	}
	drop = c->ntail + n > CODEC_EDGE ? c->ntail + n - CODEC_EDGE : 0;
	memmove(c->tail, c->tail + drop, c->ntail - drop);
	memcpy(c->tail + c->ntail - drop, p, n);
	c->ntail += n - drop;
}

static size_t
skip(struct codec *c, const char *p, size_t n, const struct codec_fns *fns,
    void *arg)
{
	size_t more;

	n = n < c->skip ? n : c->skip;
	more = n < CODEC_EDGE - c->nhead ? n : CODEC_EDGE - c->nhead;
	memcpy(c->head + c->nhead, p, more);
	c->nhead += more;
	keep_tail(c, p, n);
	if ((c->skip -= n) == 0)
		fns->left_out("it is longer than 16 MiB",
		    seq_in(c->head, c->nhead, c->tail, c->ntail), arg);
	return n;
}

/* Takes bytes of a body; 0 = go on, -1 = end. */
static int
body(struct codec *c, const char *p, size_t n, size_t *used,
    const struct codec_fns *fns, void *arg, const char **why)
{
	*used = n < c->body - c->len ? n : c->body - c->len;
	/* by what came, not by what was announced */
	if (room(c, c->len + *used) == -1) {
		*why = "out of memory for a message";
		return -1;
	}
	memcpy(c->buf + c->len, p, *used);
	c->len += *used;
	return c->len < c->body ? 0 : finish(c, fns, arg);
}

int
codec_feed(struct codec *c, const void *data, size_t len,
    const struct codec_fns *fns, void *arg, const char **why)
{
	const char *p = data;
	size_t used;

	*why = NULL;
	for (; len > 0; p += used, len -= used) {
		if (c->skip > 0) {
			used = skip(c, p, len, fns, arg);
		} else if (c->body > 0) {
			if (body(c, p, len, &used, fns, arg, why) == -1)
				return -1;
		} else if (header(c, p, len, &used) == -1) {
			*why = "its output does not begin with a line "
			    "Content-Length: N and an empty line";
			return -1;
		}
	}
	return 0;
}

void
codec_free(struct codec *c)
{
	free(c->buf);
	memset(c, 0, sizeof(*c));
}
