/* SPDX-License-Identifier: ISC */
/* Lines, words, numbers: everything that a client's bytes are parsed with. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/errors.h"
#include "line.h"

#define TLS_HANDSHAKE	0x16
#define FILE_WORD	"file="

enum line_status
line_find(const char *buf, size_t have, size_t *scanned, size_t *len,
    size_t *used)
{
	const char *nl;

	/* a ClientHello has no newline to wait for */
	if (have > 0 && buf[0] == TLS_HANDSHAKE)
		return LINE_TLS;
	/* no byte is looked at twice, in however many pieces a line comes */
	nl = have > *scanned ?
	    memchr(buf + *scanned, '\n', have - *scanned) : NULL;
	if (nl == NULL) {
		*scanned = have;
		return have >= LINE_BUFFER ? LINE_TOO_LONG : LINE_NONE;
	}
	*scanned = 0;
	*len = (size_t)(nl - buf);
	*used = *len + 1;
	if (*len > 0 && buf[*len - 1] == '\r')
		(*len)--;
	return *len > LINE_MAX_BYTES ? LINE_TOO_LONG : LINE_READY;
}

bool
line_has_control(const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool
line_is_empty(const char *p, size_t len)
{
	while (len > 0 && is_blank(p[len - 1]))
		len--;
	return len == 0;
}

void
line_split(const char *p, size_t len, struct words *ws)
{
	const char *end = p + len;

	ws->n = 0;
	ws->end = end;
	for (;;) {
		while (p < end && is_blank(*p))
			p++;
		if (p == end)
			return;
		/* one more than fits tells that there are too many */
		if (ws->n == WORDS_MAX) {
			ws->n++;
			return;
		}
		ws->w[ws->n].p = p;
		while (p < end && !is_blank(*p))
			p++;
		ws->w[ws->n].len = (size_t)(p - ws->w[ws->n].p);
		ws->n++;
	}
}

bool
word_is(const struct word *w, const char *s)
{
	return w->len == strlen(s) && memcmp(w->p, s, w->len) == 0;
}

struct word
line_rest(const struct words *ws, size_t i)
{
	struct word w = { ws->end, 0 };

	if (i < ws->n && i < WORDS_MAX) {
		w.p = ws->w[i].p;
		w.len = (size_t)(ws->end - w.p);
	}
	return w;
}

static bool
starts_with(const struct word *w, const char *s)
{
	size_t n = strlen(s);

	return w->len >= n && memcmp(w->p, s, n) == 0;
}

static bool
is_method(const struct word *w)
{
	static const char *const methods[] = { "GET", "HEAD", "POST", "PUT",
		"DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PRI" };
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (word_is(w, methods[i]))
			return true;
	return false;
}

bool
line_is_http(const struct words *ws)
{
	bool version;

	if (ws->n == 0)
		return false;
	if (starts_with(&ws->w[0], "HTTP/"))
		return true;
	version = ws->n == 3 && starts_with(&ws->w[2], "HTTP/");
	/* DELETE is also ours, but no id begins with a slash */
	if (ws->n >= 2 && ws->w[1].p[0] == '/')
		return version || is_method(&ws->w[0]);
	return version && is_method(&ws->w[0]);
}

const char *
number_parse(const struct word *w, uint64_t max, uint64_t *v)
{
	uint64_t n = 0, digit;
	size_t i;

	if (w->len == 0)
		return "is empty; give decimal digits";
	for (i = 0; i < w->len; i++) {
		if (w->p[i] < '0' || w->p[i] > '9')
			return "is not a plain decimal number";
		digit = (uint64_t)(w->p[i] - '0');
		/* asked before the sum is made: it could wrap */
		if (n > (max - digit) / 10 || digit > max)
			return "is too large";
		n = n * 10 + digit;
	}
	*v = n;
	return NULL;
}

const char *
exec_path_check(const struct word *w)
{
	size_t at = 0, n;
	const char *slash;

	if (w->len == 0)
		return "the path of the program is empty";
	if (w->len >= EXEC_PATH_MAX)
		return "the path of the program is longer than 1023 bytes";
	if (w->p[0] == '/')
		return "the path of the program must be relative to the bundle";
	if (line_has_control(w->p, w->len) || memchr(w->p, '\t', w->len))
		return "the path of the program has a control character in it";
	while (at < w->len) {
		slash = memchr(w->p + at, '/', w->len - at);
		n = slash == NULL ? w->len - at : (size_t)(slash - w->p) - at;
		if (n == 2 && memcmp(w->p + at, "..", 2) == 0)
			return "the path of the program must not have \"..\" "
			    "in it";
		at += n + 1;
	}
	if (w->p[w->len - 1] == '/')
		return "the path of the program ends in a slash";
	return NULL;
}

static bool
is_key_char(char c, bool first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	    (!first && c >= '0' && c <= '9');
}

const char *
env_check(const struct word *w, size_t *eq)
{
	const char *at = eq == NULL ? NULL : memchr(w->p, '=', w->len);
	size_t i, len = at == NULL ? w->len : (size_t)(at - w->p);

	if (eq != NULL && at == NULL)
		return "there is no =; give KEY=VALUE";
	/* a shell could not read it by any other name */
	if (len == 0)
		return "the name before = is empty";
	for (i = 0; i < len; i++)
		if (!is_key_char(w->p[i], i == 0))
			return "a name is of letters, digits and _ and does "
			    "not begin with a digit";
	if (w->len >= ENV_MAX_BYTES)
		return "the variable is too long";
	if (eq != NULL)
		*eq = len;
	return NULL;
}

struct splitter {
	const char	*p, *end;
	char		*out;
	size_t		 size, len;
	bool		 in_word, full;
};

static void
emit(struct splitter *s, char c)
{
	if (s->len == s->size)
		s->full = true;
	else
		s->out[s->len++] = c;
}

static const char *
single_quoted(struct splitter *s)
{
	for (; s->p < s->end && *s->p != '\''; s->p++)
		emit(s, *s->p);
	if (s->p == s->end)
		return "a single quote is not closed";
	s->p++;
	return NULL;
}

static const char *
double_quoted(struct splitter *s)
{
	for (; s->p < s->end && *s->p != '"'; s->p++) {
		/* as in a shell, only these are special after a backslash */
		if (*s->p == '\\' && s->p + 1 < s->end &&
		    strchr("\"\\$`", s->p[1]) != NULL)
			s->p++;
		emit(s, *s->p);
	}
	if (s->p == s->end)
		return "a double quote is not closed";
	s->p++;
	return NULL;
}

static const char *
split_one(struct splitter *s)
{
	char c = *s->p++;

	if (is_blank(c)) {
		if (s->in_word)
			emit(s, '\0');
		s->in_word = false;
		return NULL;
	}
	s->in_word = true;
	if (c == '\'')
		return single_quoted(s);
	if (c == '"')
		return double_quoted(s);
	if (c == '\\') {
		if (s->p == s->end)
			return "there is nothing after the last backslash";
		c = *s->p++;
	}
	emit(s, c);
	return NULL;
}

const char *
args_split(const struct word *w, char *out, size_t size, size_t *len)
{
	struct splitter s = { .p = w->p, .end = w->p + w->len, .out = out,
	    .size = size };
	const char *why;

	while (s.p < s.end)
		if ((why = split_one(&s)) != NULL)
			return why;
	if (s.in_word)
		emit(&s, '\0');
	if (s.full)
		return "there are too many bytes of arguments";
	*len = s.len;
	return NULL;
}

/*
 * Bytes that follow a line must never be taken for commands: as long as the
 * size can be read, it is known how many they are.
 */
void
upload_parse(const struct words *ws, struct upload_request *r)
{
	size_t n = ws->n;

	memset(r, 0, sizeof(*r));
	r->err = ERR_INVALID_SIZE;
	if (ws->n < 2) {
		r->why = "the size is missing; usage: UPLOAD <size> "
		    "[<exec_path>] [file=<name>]";
		return;
	}
	if (number_parse(&ws->w[1], INT64_MAX, &r->size) != NULL) {
		r->size = 0;
		return;
	}
	r->known = true;
	if (r->size == 0)
		return;
	if ((n == 3 || n == 4) && starts_with(&ws->w[n - 1], FILE_WORD)) {
		r->file = ws->w[--n];
		r->file.p += sizeof(FILE_WORD) - 1;
		r->file.len -= sizeof(FILE_WORD) - 1;
	}
	r->err = ERR_INVALID_EXEC_PATH;
	if (n > 3) {
		r->why = "the path of the program must not have blanks in it";
		return;
	}
	if (n == 3) {
		r->path = ws->w[2];
		r->why = exec_path_check(&r->path);
	}
	if (r->why == NULL)
		r->err = ERR_OK;
}

uint32_t
signal_parse(const struct word *w)
{
	struct word name = *w;
	const char *abbrev;
	uint64_t v;
	int sig;

	if (starts_with(&name, "SIG")) {
		name.p += 3;
		name.len -= 3;
	}
	if (number_parse(&name, NSIG - 1, &v) == NULL)
		return (uint32_t)v;
	for (sig = 1; sig < NSIG; sig++) {
		abbrev = sigabbrev_np(sig);
		if (abbrev != NULL && word_is(&name, abbrev))
			return (uint32_t)sig;
	}
	return 0;
}

const char *
signal_text(uint32_t sig, char *buf, size_t size)
{
	const char *abbrev = sig < NSIG ? sigabbrev_np((int)sig) : NULL;

	if (abbrev != NULL)
		(void)snprintf(buf, size, "SIG%s", abbrev);
	else
		(void)snprintf(buf, size, "SIG%u", sig);
	return buf;
}
