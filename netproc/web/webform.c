/* SPDX-License-Identifier: ISC */
/* A file in multipart/form-data: see the header. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "webform.h"

#define TYPE	"multipart/form-data"

bool
form_is(const char *type)
{
	return type != NULL && strncasecmp(type, TYPE, sizeof(TYPE) - 1) == 0;
}

static bool
is_boundary_char(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	    (c >= '0' && c <= '9') ||
	    (c != '\0' && strchr("'()+_,-./:=?", c) != NULL);
}

const char *
form_begin(struct form *f, const char *type)
{
	const char *b = strcasestr(type, "boundary=");
	size_t n = 0;
	bool quoted;

	memset(f, 0, sizeof(*f));
	if (b == NULL)
		return "the Content-Type of a form has a boundary";
	b += sizeof("boundary=") - 1;
	quoted = *b == '"';
	b += quoted;
	while (is_boundary_char(b[n]) && (quoted || b[n] != ','))
		n++;
	if (n == 0 || n > FORM_BOUNDARY_MAX || (quoted && b[n] != '"'))
		return "a boundary is 1 to 70 characters long";
	f->mark_len = (size_t)snprintf(f->mark, sizeof(f->mark),
	    "\r\n--%.*s", (int)n, b);
	/* the first stands at the beginning, with no line before it */
	f->matched = 2;
	f->state = FORM_IN_FIELD;
	return NULL;
}

static enum form_event
wrong(struct form *f, const char *why)
{
	f->why = why;
	return FORM_WRONG;
}

static void
eat(struct form *f, struct form_bytes *in, size_t n)
{
	in->p += n;
	in->n -= n;
	f->read += n;
}

/* -- parts ---------------------------------------------------------------- */

/* A parameter of Content-Disposition, as "name="; empty where it is not. */
static void
part_param(const char *head, const char *key, char *value, size_t size)
{
	const char *p = head;
	size_t n;

	value[0] = '\0';
	/* "name=" is not the end of "filename=" */
	while ((p = strcasestr(p, key)) != NULL && (p == head ||
	    strchr("; \t", p[-1]) == NULL))
		p++;
	if (p == NULL)
		return;
	p += strlen(key);
	n = *p == '"' ? strcspn(++p, "\"\r\n") : strcspn(p, "; \t\r\n");
	if (n == 0 || n >= size)
		return;
	memcpy(value, p, n);
	value[n] = '\0';
}

static enum form_event
begin_part(struct form *f)
{
	f->head[f->head_len - 1] = '\0';
	part_param(f->head, "name=", f->name, sizeof(f->name));
	f->value_len = 0;
	if (strcmp(f->name, "file") == 0 && f->has_file)
		return wrong(f, "the form has more than one file");
	if (strcmp(f->name, "file") == 0) {
		f->has_file = true;
		part_param(f->head, "filename=", f->file, sizeof(f->file));
		f->state = FORM_IN_FILE;
		return FORM_FILE;
	}
	if (strcmp(f->name, "name") != 0 && strcmp(f->name, "exec") != 0)
		return wrong(f, "the form has the parts file, name and exec, "
		    "and no others");
	if (strcmp(f->name, "exec") == 0 && f->has_file)
		return wrong(f, "exec stands before the file");
	f->state = FORM_IN_FIELD;
	return FORM_MORE;
}

/* Up to the empty line; the line before the first is the boundary's. */
static enum form_event
read_head(struct form *f, struct form_bytes *in)
{
	while (in->n > 0) {
		if (f->head_len == sizeof(f->head))
			return wrong(f, "the headers in the form are too long");
		f->head[f->head_len++] = *in->p;
		eat(f, in, 1);
		if (f->head_len >= 4 && memcmp(f->head + f->head_len - 4,
		    "\r\n\r\n", 4) == 0)
			return begin_part(f);
	}
	return FORM_MORE;
}

static enum form_event
end_part(struct form *f)
{
	bool is_field = f->name[0] != '\0' && strcmp(f->name, "file") != 0;

	f->value[f->value_len] = '\0';
	f->state = FORM_AT_BOUNDARY;
	f->head_len = f->matched = 0;
	if (is_field && strlen(f->value) != f->value_len)
		return wrong(f, "name and exec have no NUL in them");
	return is_field ? FORM_FIELD : FORM_MORE;
}

static enum form_event
read_boundary(struct form *f, struct form_bytes *in)
{
	while (in->n > 0 && f->head_len < 2) {
		f->head[f->head_len++] = *in->p;
		eat(f, in, 1);
	}
	if (f->head_len < 2)
		return FORM_MORE;
	if (memcmp(f->head, "--", 2) == 0) {
		f->head_len = 0;
		f->state = FORM_OVER;
		return FORM_MORE;
	}
	if (memcmp(f->head, "\r\n", 2) != 0)
		return wrong(f, "a boundary of the form is followed by "
		    "something else than the end of its line");
	/* so that no header at all is an empty line behind this one */
	f->state = FORM_IN_HEAD;
	memcpy(f->head, "\r\n", 2);
	f->head_len = 2;
	return FORM_MORE;
}

/* The end of the last line may be there, and nothing else. */
static enum form_event
read_end(struct form *f, struct form_bytes *in)
{
	static const char end[] = "\r\n";

	for (; in->n > 0; f->head_len++) {
		if (f->head_len == 2 || *in->p != end[f->head_len])
			return wrong(f, "more follows than the form");
		eat(f, in, 1);
	}
	return FORM_MORE;
}

/* -- what stands between boundaries --------------------------------------- */

static enum form_event
keep(struct form *f, struct form_bytes *data)
{
	if (data->n > FORM_FIELD_MAX - f->value_len)
		return wrong(f, "name and exec are at most 1024 bytes");
	memcpy(f->value + f->value_len, data->p, data->n);
	f->value_len += data->n;
	return FORM_MORE;
}

/* Bytes that are none of a boundary's. */
static enum form_event
form_give(struct form *f, struct form_bytes *in, struct form_bytes *data)
{
	enum form_event e;

	if (f->state == FORM_IN_FILE)
		return FORM_DATA;
	if (f->name[0] == '\0')
		return wrong(f, "the form does not begin with its boundary");
	e = keep(f, data);
	form_ate(f, in, data->n);
	return e;
}

/* A boundary that began before went on otherwise: that was no boundary. */
static enum form_event
give_held(struct form *f, struct form_bytes *in, struct form_bytes *data)
{
	data->p = f->mark + f->held_at;
	data->n = f->held - f->held_at;
	return form_give(f, in, data);
}

static enum form_event
read_data(struct form *f, struct form_bytes *in, struct form_bytes *data)
{
	const char *cr;

	while (f->matched > 0 && in->n > 0) {
		if (f->matched == f->mark_len)
			return end_part(f);
		if (*in->p != f->mark[f->matched]) {
			f->held = f->matched;
			f->held_at = f->matched = 0;
			return give_held(f, in, data);
		}
		eat(f, in, 1);
		f->matched++;
	}
	if (f->matched == f->mark_len)
		return end_part(f);
	if (in->n == 0)
		return FORM_MORE;
	cr = memchr(in->p, '\r', in->n);
	data->p = in->p;
	data->n = cr == NULL ? in->n : (size_t)(cr - in->p);
	if (data->n > 0)
		return form_give(f, in, data);
	eat(f, in, 1);
	f->matched = 1;
	return FORM_MORE;
}

void
form_ate(struct form *f, struct form_bytes *in, size_t n)
{
	if (f->held > 0) {
		f->held_at += n;
		if (f->held_at == f->held)
			f->held = f->held_at = 0;
	} else
		eat(f, in, n);
}

enum form_event
form_next(struct form *f, struct form_bytes *in, struct form_bytes *data)
{
	enum form_event e = FORM_MORE;

	if (f->why != NULL)
		return FORM_WRONG;
	while (e == FORM_MORE && (in->n > 0 || f->held > 0)) {
		if (f->held > 0)
			e = give_held(f, in, data);
		else if (f->state <= FORM_IN_FIELD)
			e = read_data(f, in, data);
		else if (f->state == FORM_AT_BOUNDARY)
			e = read_boundary(f, in);
		else if (f->state == FORM_IN_HEAD)
			e = read_head(f, in);
		else
			e = read_end(f, in);
	}
	return e;
}

uint64_t
form_most(const struct form *f, uint64_t total)
{
	uint64_t other = f->read + f->mark_len;

	return total > other ? total - other : 1;
}

const char *
form_lacks(const struct form *f)
{
	if (f->state != FORM_OVER)
		return "the form does not end as it has to, with its "
		    "boundary behind the last part";
	return f->has_file ? NULL : "the form has no part called file";
}
