/* SPDX-License-Identifier: ISC */
/*
 * Events as lines for people, in the format of exports: time, thread, what
 * happened. Events that are queried one by one are formatted here.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/reply.h"
#include "client/lib/report.h"
#include "client/lib/safe.h"
#include "client/lib/term.h"
#include "tl_lines.h"

#define INDENT_MAX	100	/* columns; deeper calls stand there, too */
#define DEPTH_MAX	4096

/* The calls that a thread is in, by their ids. */
struct tl_thread {
	char	 ord[16];	/* what its events' ids begin with */
	char	**ids;		/* owned, and each of them */
	size_t	 n;
};

void
tl_lines_begin(struct tl_lines *l, FILE *out, bool tree)
{
	*l = (struct tl_lines){ .out = out, .tree = tree,
		.colours = term_colours(fileno(out)) };
}

static void
leave_to(struct tl_thread *t, size_t n)
{
	while (t->n > n)
		free(t->ids[--t->n]);
}

void
tl_lines_end(struct tl_lines *l)
{
	size_t i;

	for (i = 0; i < l->nthreads; i++) {
		leave_to(&l->threads[i], 0);
		free(l->threads[i].ids);
	}
	free(l->threads);
	free(l->rest);
}

/* -- depth ----------------------------------------------------------------- */

static struct tl_thread *
tl_thread_of(struct tl_lines *l, const char *id)
{
	char ord[sizeof(l->threads->ord)];
	size_t i;

	snprintf(ord, sizeof(ord), "%.*s", (int)strcspn(id, "."), id);
	for (i = l->nthreads; i-- > 0;)
		if (strcmp(l->threads[i].ord, ord) == 0)
			return &l->threads[i];
	l->threads = reallocarray(l->threads, l->nthreads + 1,
	    sizeof(*l->threads));
	if (l->threads == NULL)
		err(CTL_USAGE, NULL);
	l->threads[l->nthreads] = (struct tl_thread){ 0 };
	strcpy(l->threads[l->nthreads].ord, ord);
	return &l->threads[l->nthreads++];
}

/* How many calls there are up to the one with this id; 0: it is not known. */
static size_t
up_to(const struct tl_thread *t, const char *id)
{
	size_t i;

	for (i = t->n; i > 0; i--)
		if (strcmp(t->ids[i - 1], id) == 0)
			return i;
	return 0;
}

static void
enter(struct tl_thread *t, const char *id)
{
	if (t->n == DEPTH_MAX)
		return;
	if (t->ids == NULL && (t->ids = calloc(DEPTH_MAX,
	    sizeof(*t->ids))) == NULL)
		err(CTL_USAGE, NULL);
	if ((t->ids[t->n++] = strdup(id)) == NULL)
		err(CTL_USAGE, NULL);
}

/* How deep a call is; keeps the stack. */
static size_t
depth_of(struct tl_lines *l, struct json_object *e, bool exits)
{
	const char *id = reply_str(e, "id", "");
	struct tl_thread *t;
	size_t n;

	if (!l->tree)
		return 0;
	t = tl_thread_of(l, id);
	n = up_to(t, reply_str(e, "parentEventId", ""));
	if (!exits) {
		leave_to(t, n);
		enter(t, id);
		return n;
	}
	/* the return of a call that was not seen to begin changes nothing */
	if (n == 0)
		return t->n;
	leave_to(t, n - 1);
	return n - 1;
}

/* Within how many calls of its thread something was written. */
static size_t
text_depth(struct tl_lines *l, struct json_object *e)
{
	const char *parent = reply_str(e, "parentEventId", "");

	return l->tree && *parent != '\0'
		   ? up_to(tl_thread_of(l, parent), parent)
		   : 0;
}

/* -- lines ----------------------------------------------------------------- */

static enum colour
colour_of(const char *what)
{
	static const struct {
		const char	*begins;
		enum colour	 colour;
	} colours[] = {
		{ "> ", GREEN }, { "< ", CYAN }, { "stderr: ", YELLOW },
		{ "crash: ", RED }, { "stdout: ", BOLD },
	};
	size_t i;

	for (i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		if (strncmp(what, colours[i].begins,
		    strlen(colours[i].begins)) == 0)
			return colours[i].colour;
	return PLAIN;
}

/* Only where and what is coloured, not the words of the program. */
static void
print_coloured(FILE *out, const char *line)
{
	size_t where = strspn(line, " 0123456789."), what;

	what = strcspn(line + where, " ");
	fprintf(out, "%s%.*s%s", term_colour(DIM), (int)where, line,
	    term_colour(PLAIN));
	line += where;
	fprintf(out, "%s%.*s%s%s\n", term_colour(colour_of(line)), (int)what,
	    line, term_colour(PLAIN), line + what);
}

static void
print_line(struct tl_lines *l, const char *line)
{
	char *clean = safe_string(line);

	if (l->colours)
		print_coloured(l->out, clean);
	else
		fprintf(l->out, "%s\n", clean);
	free(clean);
}

void
tl_lines_put(struct tl_lines *l, const char *data, size_t len)
{
	char *lf;

	l->rest = realloc(l->rest, l->nrest + len + 1);
	if (l->rest == NULL)
		err(CTL_USAGE, NULL);
	memcpy(l->rest + l->nrest, data, len);
	l->nrest += len;
	data = l->rest;
	while ((lf = memchr(data, '\n', l->nrest - (size_t)(data -
	    l->rest))) != NULL) {
		*lf = '\0';
		print_line(l, data);
		data = lf + 1;
	}
	l->nrest -= (size_t)(data - l->rest);
	memmove(l->rest, data, l->nrest);
}

/* -- events ---------------------------------------------------------------- */

static const char *
tl_json_text(struct json_object *v)
{
	return json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN |
	    JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void
put_duration(FILE *f, struct json_object *e)
{
	static const struct {
		int64_t		 below, unit;
		const char	*name;
	} units[] = {
		{ 1000, 1, "ns" }, { 1000000, 1000, "us" },
		{ 1000000000, 1000000, "ms" }, { INT64_MAX, 1000000000, "s" },
	};
	int64_t ns = 0;
	int i = 0;

	reply_int(e, "duration_ns", &ns);
	while (i < 3 && ns >= units[i].below)
		i++;
	fprintf(f, i == 0 ? "  (%.0f %s%s%s)" : "  (%.3f %s%s%s)",
	    (double)ns / (double)units[i].unit, units[i].name,
	    reply_true(e, "unwound") ? ", unwound" : "",
	    reply_true(e, "sampled") ? ", sampled" : "");
}

static void
put_enter(FILE *f, struct json_object *e)
{
	struct json_object *list;
	size_t i;

	fprintf(f, "> %s(", reply_str(e, "function", "?"));
	if (json_object_object_get_ex(e, "arguments", &list) &&
	    json_object_is_type(list, json_type_array))
		for (i = 0; i < json_object_array_length(list); i++)
			fprintf(f, "%s%s", i > 0 ? "," : "", tl_json_text(
			    json_object_array_get_idx(list, i)));
	fputc(')', f);
}

/* Nothing and a pointer to nothing are both null; the type tells. */
static bool
returns(struct json_object *e)
{
	const char *type = reply_str(e, "returnType", "");

	return *type != '\0' && strcmp(type, "null") != 0;
}

static void
put_exit(FILE *f, struct json_object *e)
{
	struct json_object *v;

	fprintf(f, "< %s", reply_str(e, "function", "?"));
	if (json_object_object_get_ex(e, "returnValue", &v) &&
	    (v != NULL || returns(e)))
		fprintf(f, " = %s", tl_json_text(v));
	put_duration(f, e);
}

static void
put_output(FILE *f, struct json_object *e, const char *type)
{
	const char *text = reply_str(e, "text", "");
	struct json_object *v;
	size_t len = strlen(text);

	if (json_object_object_get_ex(e, "crash", &v))
		text = tl_json_text(v), len = strlen(text);
	else if (len > 0 && text[len - 1] == '\n')
		len--;
	fprintf(f, "%s: %.*s", type, (int)len, text);
}

static void
put_place(FILE *f, struct json_object *e, size_t depth)
{
	int64_t ns = 0, tid = 0;

	reply_int(e, "timestamp_ns", &ns);
	reply_int(e, "threadId", &tid);
	fprintf(f, "%6" PRId64 ".%09" PRId64 " %7" PRId64 " %*s",
	    ns / 1000000000, ns % 1000000000, tid,
	    (int)(2 * depth < INDENT_MAX ? 2 * depth : INDENT_MAX), "");
}

void
tl_lines_event(struct tl_lines *l, struct json_object *e)
{
	const char *type = reply_str(e, "eventType", "?");
	bool exits = strcmp(type, "function_exit") == 0;
	char *line = NULL;
	size_t size;
	FILE *f = open_memstream(&line, &size);

	if (f == NULL)
		err(CTL_USAGE, NULL);
	if (exits || strcmp(type, "function_enter") == 0) {
		put_place(f, e, depth_of(l, e, exits));
		(exits ? put_exit : put_enter)(f, e);
	} else {
		put_place(f, e, text_depth(l, e));
		put_output(f, e, type);
	}
	if (fclose(f) != 0)
		err(CTL_USAGE, NULL);
	print_line(l, line);
	free(line);
}
