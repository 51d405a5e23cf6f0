/* SPDX-License-Identifier: ISC */
/* Recordings of terminals as asciicast files. A file may come from anybody:
 * what is read of it is bounded and checked, line by line. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cast.h"
#include "client/lib/report.h"

#define DEPTH_MAX	8		/* of JSON in JSON */
#define SIZE_MAX_CELLS	10000		/* columns, or rows */
#define TIME_MAX	1e9		/* seconds */

struct cast_reader {
	FILE			*in;
	const char		*name;
	unsigned long		 line;
	int			 version;
	double			 at;
	char			*buf;
	size_t			 size;
	struct json_object	*event;
};

static void
put_code(FILE *out, uint32_t cp)
{
	fprintf(out, "\\u%04x", (unsigned int)cp);
}

/* Writes the inside of a JSON string; returns the bytes of a character that
 * is cut off at the end. */
static size_t
put_text(FILE *out, const unsigned char *p, size_t len)
{
	uint32_t cp = 0;
	size_t n;

	for (; len > 0; p += n, len -= n) {
		if ((n = utf8_decode(p, len, &cp)) == UTF8_INCOMPLETE)
			return len;
		if (n == 0) {
			put_code(out, 0xfffd);
			n = 1;
		} else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
			put_code(out, cp);
		else {
			if (cp == '"' || cp == '\\')
				fputc('\\', out);
			fwrite(p, 1, n, out);
		}
	}
	return 0;
}

static void
put_event(struct cast_writer *w, double at, char code, const char *text)
{
	fprintf(w->out, "[%.6f, \"%c\", \"", at, code);
	put_text(w->out, (const unsigned char *)text, strlen(text));
	fputs("\"]\n", w->out);
	fflush(w->out);
}

void
cast_begin(struct cast_writer *w, FILE *out, unsigned int cols,
    unsigned int rows, int64_t began, const char *title)
{
	memset(w, 0, sizeof(*w));
	w->out = out;
	fprintf(out, "{\"version\": 2, \"width\": %u, \"height\": %u, "
	    "\"timestamp\": %lld, ", cols, rows, (long long)began);
	if (title != NULL) {
		fputs("\"title\": \"", out);
		put_text(out, (const unsigned char *)title, strlen(title));
		fputs("\", ", out);
	}
	fputs("\"env\": {\"TERM\": \"xterm-256color\"}}\n", out);
	fflush(out);
}

void
cast_output(struct cast_writer *w, double at, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t left, head;

	if (len == 0)
		return;
	fprintf(w->out, "[%.6f, \"o\", \"", at);
	/* First the character that the last piece left over. */
	while (w->npending > 0 && len > 0) {
		w->pending[w->npending++] = *p++;
		len--;
		head = w->npending;
		left = put_text(w->out, w->pending, head);
		memmove(w->pending, w->pending + head - left, left);
		w->npending = left;
	}
	if (len > 0) {
		left = put_text(w->out, p, len);
		memcpy(w->pending, p + len - left, left);
		w->npending = left;
	}
	fputs("\"]\n", w->out);
	/* Flush: the file holds all output however this process ends. */
	fflush(w->out);
}

void
cast_resize(struct cast_writer *w, double at, unsigned int cols,
    unsigned int rows)
{
	char text[32];

	snprintf(text, sizeof(text), "%ux%u", cols, rows);
	put_event(w, at, 'r', text);
}

void
cast_mark(struct cast_writer *w, double at, const char *text)
{
	put_event(w, at, 'm', text);
}

int
cast_end(struct cast_writer *w, double at)
{
	if (w->npending > 0)
		put_event(w, at, 'o', "\xef\xbf\xbd");
	w->npending = 0;
	return fflush(w->out) == 0 && !ferror(w->out) ? 0 : -1;
}

static int
wrong(const struct cast_reader *r, const char *why)
{
	report("%s: line %lu: %s", r->name, r->line, why);
	return -1;
}

/* Length of the next line without its end, at r->buf; -1 after a report, -2
 * at the end of the file. */
static ssize_t
read_line(struct cast_reader *r)
{
	size_t n = 0, size;
	char *buf;
	int c;

	r->line++;
	while ((c = getc_unlocked(r->in)) != EOF && c != '\n') {
		if (n == CAST_LINE_MAX)
			return wrong(r, "it is longer than 16 MiB");
		if (n == r->size) {
			size = r->size * 2 + 4096;
			if ((buf = realloc(r->buf, size)) == NULL)
				return wrong(r, "out of memory");
			r->buf = buf;
			r->size = size;
		}
		r->buf[n++] = (char)c;
	}
	if (ferror(r->in))
		return wrong(r, strerror(errno));
	return c == EOF && n == 0 ? -2 : (ssize_t)n;
}

static struct json_object *
parse(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	struct json_object *json;
	size_t used;

	if (tok == NULL)
		return NULL;
	json = json_tokener_parse_ex(tok, text, (int)len);
	/* A number that ends the text could go on, but no object or array. */
	if (json_tokener_get_error(tok) != json_tokener_success) {
		json_object_put(json);
		json = NULL;
	}
	used = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	while (used < len && strchr(" \t\r", text[used]) != NULL &&
	    text[used] != '\0')
		used++;
	if (used == len)
		return json;
	json_object_put(json);
	return NULL;
}

/* A whole number of o from 1 to max; 0 when there is none. */
static unsigned int
number(struct json_object *o, const char *key, int max)
{
	struct json_object *v;
	int64_t n;

	if (!json_object_object_get_ex(o, key, &v) ||
	    !json_object_is_type(v, json_type_int))
		return 0;
	n = json_object_get_int64(v);
	return n >= 1 && n <= max ? (unsigned int)n : 0;
}

static bool
seconds(struct json_object *v, double *s)
{
	if (!json_object_is_type(v, json_type_double) &&
	    !json_object_is_type(v, json_type_int))
		return false;
	*s = json_object_get_double(v);
	return isfinite(*s) && *s >= 0 && *s <= TIME_MAX;
}

static int
read_header(struct cast_reader *r, struct json_object *o,
    struct cast_header *h)
{
	struct json_object *term = o, *idle;

	if (!json_object_is_type(o, json_type_object) ||
	    (r->version = (int)number(o, "version", 1000)) == 0)
		return wrong(r, "not an asciicast: it must begin with "
		    "{\"version\": 2, \"width\": ...");
	if (r->version != 2 && r->version != 3)
		return wrong(r, "this version of asciicast is not known; "
		    "known are 2 and 3");
	if (r->version == 3 && !json_object_object_get_ex(o, "term", &term))
		term = NULL;
	h->cols = number(term, r->version == 3 ? "cols" : "width",
	    SIZE_MAX_CELLS);
	h->rows = number(term, r->version == 3 ? "rows" : "height",
	    SIZE_MAX_CELLS);
	if (h->cols == 0 || h->rows == 0)
		return wrong(r, "the terminal's size is missing, or none from "
		    "1x1 to 10000x10000");
	h->idle_limit = 0;
	if (json_object_object_get_ex(o, "idle_time_limit", &idle) &&
	    idle != NULL && !seconds(idle, &h->idle_limit))
		return wrong(r, "idle_time_limit is no number of seconds");
	return 0;
}

struct cast_reader *
cast_open(FILE *in, const char *name, struct cast_header *h)
{
	struct json_object *json = NULL;
	struct cast_reader *r;
	ssize_t n;
	int ok = -1;

	if ((r = calloc(1, sizeof(*r))) == NULL) {
		report("out of memory");
		return NULL;
	}
	r->in = in;
	r->name = name;
	if ((n = read_line(r)) == -2)
		report("%s: it is empty", name);
	else if (n != -1) {
		json = parse(r->buf, (size_t)n);
		ok = read_header(r, json, h);
	}
	json_object_put(json);
	if (ok == 0)
		return r;
	cast_close(r);
	return NULL;
}

void
cast_close(struct cast_reader *r)
{
	json_object_put(r->event);
	free(r->buf);
	free(r);
}

static int
take_event(struct cast_reader *r, struct cast_event *e)
{
	struct json_object *code, *data;
	double s;

	if (!json_object_is_type(r->event, json_type_array) ||
	    json_object_array_length(r->event) < 3)
		return wrong(r, "this is no event: one is "
		    "[SECONDS, \"o\", \"TEXT\"]");
	code = json_object_array_get_idx(r->event, 1);
	data = json_object_array_get_idx(r->event, 2);
	if (!seconds(json_object_array_get_idx(r->event, 0), &s))
		return wrong(r, "its time is no number of seconds from 0 to "
		    "1000000000");
	if (!json_object_is_type(code, json_type_string) ||
	    !json_object_is_type(data, json_type_string))
		return wrong(r, "the code and the data of an event must be "
		    "strings");
	/* Version 3 tells how long after the one before. */
	s += r->version == 3 ? r->at : 0;
	if (s > r->at)
		r->at = s < TIME_MAX ? s : TIME_MAX;
	e->at = r->at;
	e->code = json_object_get_string_len(code) == 1 ?
	    *json_object_get_string(code) : '?';
	e->data = json_object_get_string(data);
	e->len = (size_t)json_object_get_string_len(data);
	return 1;
}

int
cast_next(struct cast_reader *r, struct cast_event *e)
{
	ssize_t n;

	do {
		if ((n = read_line(r)) < 0)
			return n == -2 ? 0 : -1;
	} while (n == 0 || (n == 1 && *r->buf == '\r') || *r->buf == '#');
	json_object_put(r->event);
	if ((r->event = parse(r->buf, (size_t)n)) == NULL)
		return wrong(r, "this is not JSON; is the file cut off?");
	return take_event(r, e);
}

bool
cast_size(const struct cast_event *e, unsigned int *cols, unsigned int *rows)
{
	int used = 0;

	return e->code == 'r' && e->len < 16 && sscanf(e->data, "%5ux%5u%n",
	    cols, rows, &used) == 2 && (size_t)used == e->len &&
	    *cols > 0 && *cols <= SIZE_MAX_CELLS && *rows > 0 &&
	    *rows <= SIZE_MAX_CELLS;
}
