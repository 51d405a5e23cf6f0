/* SPDX-License-Identifier: ISC */
/*
 * The trace event format that chrome://tracing and Perfetto read: a call is
 * B and E, output and crashes are instants.  Calls whose end is missing end
 * where their caller goes on, so that B and E are always paired.
 */
#include <string.h>

#include "base/json.h"
#include "export_int.h"

/* The members that every event has; times are in microseconds. */
static void
open_event(struct export *x, char ph, uint64_t ts, uint32_t tid)
{
	uint64_t ns = shown_ns(x->st, ts);

	text_printf(&x->out, ",\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,"
	    "\"ts\":%llu.%03u", ph, x->st->meta.pid, tid,
	    (unsigned long long)(ns / 1000), (unsigned int)(ns % 1000));
}

static void
named(struct export *x, const char *name)
{
	text_puts(&x->out, ",\"name\":");
	json_quoted(&x->out, name, strlen(name));
}

static void
metadata(struct export *x, const char *what, uint32_t tid, const char *name)
{
	text_printf(&x->out, "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,"
	    "\"name\":\"%s\",\"args\":{\"name\":", x->st->meta.pid, tid, what);
	json_quoted(&x->out, name, strlen(name));
	text_puts(&x->out, "}}");
}

static void
begin(struct export *x)
{
	text_puts(&x->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	metadata(x, "process_name", x->st->meta.pid,
	    x->st->meta.binary_path);
}

static void
unwind(struct export *x, struct stack *s, uint32_t keep, uint64_t ts)
{
	while (s->n > keep) {
		s->n--;
		open_event(x, 'E', ts, s->thread->tid);
		text_puts(&x->out, "}");
	}
}

static void
enter(struct export *x, struct stack *s, const struct seen *ev)
{
	static char buf[STORE_RENDER_MAX];
	const struct function *f = function_of(x->st, ev->fn);

	unwind(x, s, stack_within(s, ev->parent), ev->ts);
	if (stack_push(s, ev) == NULL)
		return;
	open_event(x, 'B', ev->ts, ev->tid);
	named(x, export_name(x->st, ev->fn));
	text_puts(&x->out, ",\"cat\":");
	json_quoted(&x->out, f == NULL ? "" : f->file,
	    f == NULL ? 0 : strlen(f->file));
	text_puts(&x->out, ",\"args\":{\"arguments\":");
	text_put(&x->out, buf, shown_arguments(x->st, ev->fn, ev->data,
	    ev->len, buf));
	text_puts(&x->out, "}}");
}

static void
leave(struct export *x, struct stack *s, const struct seen *ev)
{
	static char buf[STORE_RENDER_MAX];
	uint32_t keep = stack_keep(s, ev->parent);

	if (keep == 0)
		return;		/* its beginning is not there */
	unwind(x, s, keep, ev->ts);
	s->n--;
	open_event(x, 'E', ev->ts, ev->tid);
	if (ev->len > 0) {
		text_puts(&x->out, ",\"args\":{\"returnValue\":");
		text_put(&x->out, buf, shown_result(x->st, ev->fn, ev->data,
		    ev->len, buf));
		text_puts(&x->out, "}");
	}
	text_puts(&x->out, "}");
}

static void
instant(struct export *x, const struct seen *ev)
{
	open_event(x, 'i', ev->ts, ev->tid != 0 ? ev->tid :
	    x->st->meta.pid);
	named(x, kind_name(ev->kind));
	text_printf(&x->out, ",\"s\":\"%c\",\"args\":{\"text\":",
	    ev->kind == EVENT_CRASH ? 'p' : 't');
	json_quoted(&x->out, ev->data, ev->len);
	text_puts(&x->out, "}}");
}

static void
event(struct export *x, const struct seen *ev)
{
	struct stack *s;
	bool fresh;

	if (ev->thread == NULL) {
		instant(x, ev);
		return;
	}
	if ((s = stack_of(&x->stacks, ev->thread, &fresh)) == NULL) {
		x->failed = true;
		return;
	}
	if (fresh && ev->thread->name[0] != '\0') {
		text_puts(&x->out, ",\n");
		metadata(x, "thread_name", ev->tid, ev->thread->name);
	}
	if (ev->kind == EVENT_ENTER)
		enter(x, s, ev);
	else
		leave(x, s, ev);
}

static void
end(struct export *x)
{
	text_puts(&x->out, "\n]}\n");
}

int
export_chrome(struct store *st, const struct query *q,
    const struct export_to *to, char why[STORE_WHY])
{
	static const struct export_format format = { begin, event, end };

	return export_run(st, q, to, &format, NULL, why);
}
