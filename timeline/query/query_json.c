/* SPDX-License-Identifier: ISC */
/* Events as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "query_int.h"

#define LOSSES_MAX	100

static const char *const kinds[] = { NULL, "function_enter", "function_exit",
	"stdout", "stderr", "crash" };

const char *
kind_name(uint8_t kind)
{
	return kind >= EVENT_ENTER && kind <= EVENT_CRASH ? kinds[kind] : "";
}

uint8_t
kind_of(const char *name)
{
	unsigned int k;

	for (k = EVENT_ENTER; k <= EVENT_CRASH; k++)
		if (strcmp(name, kinds[k]) == 0)
			return (uint8_t)k;
	return 0;
}

void
event_id_text(uint64_t id, char out[24])
{
	snprintf(out, 24, "%u.%llu", id_ord(id),
	    (unsigned long long)id_seq(id));
}

static bool
digits(const char **s, const char *end, uint64_t most, uint64_t *v)
{
	const char *first = *s;

	for (*v = 0; *s < end && **s >= '0' && **s <= '9'; ++*s) {
		*v = 10 * *v + (uint64_t)(**s - '0');
		if (*v > most)
			return false;
	}
	return *s > first && (*first != '0' || *s == first + 1);
}

int
id_parse(const char *s, size_t len, uint64_t *id)
{
	const char *end = s + len;
	uint64_t ord, seq;

	if (!digits(&s, end, ORD_MAX, &ord) || s == end || *s++ != '.' ||
	    !digits(&s, end, SEQ_MAX, &seq) || s != end || seq == 0)
		return -1;
	*id = id_of((uint32_t)ord, seq);
	return 0;
}

uint64_t
shown_ns(const struct store *st, uint64_t ts)
{
	return ts > st->meta.start_ns ? ts - st->meta.start_ns : 0;
}

/* -- values ------------------------------------------------------------- */
/* Without types: one hexadecimal number for each capture. */
static size_t
render_words(const uint8_t *p, size_t len, bool list, char *buf, size_t size)
{
	uint16_t status, n;
	size_t at = 0, i, most;

	buf[at++] = list ? '[' : '\0';
	if (!list)
		at = 0;
	while (len >= 4) {
		memcpy(&status, p, 2);
		memcpy(&n, p + 2, 2);
		most = n < len - 4 ? n : len - 4;
		if (at + 2 * most + 16 > size)
			break;
		if (at > (size_t)list)
			buf[at++] = ',';
		at += (size_t)snprintf(buf + at, size - at, "\"0x");
		i = most;
		while (i > 1 && p[4 + i - 1] == 0)
			i--;
		at += (size_t)snprintf(buf + at, size - at, "%x",
		    i > 0 ? p[4 + i - 1] : 0);
		while (i > 1)
			at += (size_t)snprintf(buf + at, size - at, "%02x",
			    p[4 + --i - 1]);
		buf[at++] = '"';
		most = (most + 3) & ~(size_t)3;
		p += most + 4 > len ? len : most + 4;
		len -= most + 4 > len ? len : most + 4;
		if (!list)
			break;
	}
	if (list)
		buf[at++] = ']';
	if (at == 0)
		at = (size_t)snprintf(buf, size, "null");
	return at;
}

typedef size_t (*render_fn)(void *, uint32_t, const void *, size_t, char *,
    size_t);

/* As who knows the types shows it, else as the words that were captured. */
static size_t
shown(const struct store *st, render_fn render, bool is_array, uint32_t fn,
    const void *p, size_t len, char buf[STORE_RENDER_MAX])
{
	size_t n = 0;

	if (st->names_only)
		return (size_t)snprintf(buf, STORE_RENDER_MAX, "%s",
		    is_array ? "[]" : "null");
	if (render != NULL)
		n = render(st->render.arg, fn, p, len, buf, STORE_RENDER_MAX);
	return n > 0 && n <= STORE_RENDER_MAX ? n :
	    render_words(p, len, is_array, buf, STORE_RENDER_MAX);
}

size_t
shown_arguments(const struct store *st, uint32_t fn, const void *p,
    size_t len, char buf[STORE_RENDER_MAX])
{
	return shown(st, st->render.arguments, true, fn, p, len, buf);
}

size_t
shown_result(const struct store *st, uint32_t fn, const void *p,
    size_t len, char buf[STORE_RENDER_MAX])
{
	return shown(st, st->render.result, false, fn, p, len, buf);
}

/* -- events ------------------------------------------------------------- */
static void
member(struct text *t, const char *name, const char *value)
{
	text_printf(t, ",\"%s\":", name);
	json_quoted(t, value, strlen(value));
}

static void
number(struct text *t, const char *name, uint64_t v)
{
	text_put(t, ",\"", 2);
	text_puts(t, name);
	text_put(t, "\":", 2);
	text_u64(t, v);
}

static void
parent(struct text *t, uint64_t event)
{
	char id[24];

	event_id_text(event, id);
	text_printf(t,
	    event == 0 ? ",\"parentEventId\":null"
		       : ",\"parentEventId\":\"%s\"",
	    id);
}

static void
verbose_members(const struct store *st, const struct seen *ev,
    const struct function *f, struct text *t)
{
	static char buf[STORE_RENDER_MAX];
	bool exit = ev->kind == EVENT_EXIT;

	member(t, "functionRaw", f != NULL ? f->raw : "");
	number(t, "threadId", ev->tid);
	if (ev->thread->name[0] != '\0')
		member(t, "threadName", ev->thread->name);
	parent(t, ev->parent);
	text_puts(t, ",\"arguments\":");
	if (exit)
		text_puts(t, "[]");
	else
		text_put(t, buf, shown_arguments(st, ev->fn, ev->data,
		    ev->len, buf));
	text_puts(t, ",\"returnValue\":");
	if (exit && ev->len > 0)
		text_put(t, buf, shown_result(st, ev->fn, ev->data, ev->len,
		    buf));
	else
		text_puts(t, "null");
	if (ev->flags & EVENT_SAMPLED)
		text_puts(t, ",\"sampled\":true");
	if (ev->flags & EVENT_UNWOUND)
		text_puts(t, ",\"unwound\":true");
}

static void
call_members(const struct store *st, const struct seen *ev, bool verbose,
    struct text *t)
{
	const struct function *f = function_of(st, ev->fn);

	member(t, "function", f != NULL ? f->name : "");
	member(t, "sourceFile", f != NULL ? f->file : "");
	number(t, "line", f != NULL ? f->line : 0);
	/* how long a call will have taken is not known when it begins */
	if (ev->kind == EVENT_EXIT)
		number(t, "duration_ns", ev->duration);
	else
		text_puts(t, ",\"duration_ns\":null");
	member(t, "returnType", f != NULL ? f->ret_type : "");
	if (verbose)
		verbose_members(st, ev, f, t);
}

void
query_losses(const struct store *st, struct text *t)
{
	const struct thread *th;
	uint32_t i, n = 0;

	text_puts(t, "[");
	for (i = 0; i < st->nthreads && n < LOSSES_MAX; i++) {
		th = st->threads[i];
		if (th->lost == 0)
			continue;
		text_printf(t, "%s{\"threadId\":%u,\"lost\":%llu",
		    n++ > 0 ? "," : "", th->tid,
		    (unsigned long long)th->lost);
		if (th->name[0] != '\0')
			member(t, "threadName", th->name);
		text_puts(t, "}");
	}
	text_puts(t, "]");
}

/* Adds the thread that output or a crash is of, if it is known. */
static void
text_members(const struct seen *ev, bool verbose, struct text *t)
{
	if (ev->tid == 0)
		return;
	number(t, "threadId", ev->tid);
	if (!verbose || ev->kind == EVENT_CRASH)
		return;
	if (ev->name != NULL && ev->name[0] != '\0')
		member(t, "threadName", ev->name);
	parent(t, ev->parent);
}

void
event_json(const struct store *st, const struct seen *ev, bool verbose,
    struct text *t)
{
	char id[24];

	event_id_text(ev->id, id);
	text_printf(t, "{\"id\":\"%s\"", id);
	number(t, "timestamp_ns", shown_ns(st, ev->ts));
	member(t, "eventType", kind_name(ev->kind));
	if (ev->thread != NULL) {
		call_members(st, ev, verbose, t);
	} else {
		text_members(ev, verbose, t);
		if (ev->kind == EVENT_CRASH) {
			/* the file may not be what store_crash() wrote */
			text_puts(t, ",\"crash\":");
			if (json_is_object(ev->data, ev->len))
				text_put(t, ev->data, ev->len);
			else
				json_quoted(t, ev->data, ev->len);
		} else {
			text_puts(t, ",\"text\":");
			json_quoted(t, ev->data, ev->len);
		}
	}
	text_put(t, "}", 1);
}
