/* SPDX-License-Identifier: ISC */
/* A timeline to be read: a line per event, calls indented if asked. */
#include <string.h>

#include "export_int.h"

#define INDENT_MAX	100	/* columns; deeper calls stand there, too */

/* JSON on a terminal: it has no control characters but DEL and the C1. */
static void
add_json(struct text *t, const char *s, size_t len)
{
	size_t i, from = 0;

	for (i = 0; i < len; i++) {
		if (s[i] == 0x7f) {
			text_put(t, s + from, i - from);
			text_puts(t, "\\u007f");
			from = i + 1;
		} else if ((uint8_t)s[i] == 0xc2 && i + 1 < len &&
		    (uint8_t)s[i + 1] < 0xa0) {
			text_put(t, s + from, i - from);
			text_printf(t, "\\u%04x", (uint8_t)s[i + 1]);
			from = ++i + 1;
		}
	}
	text_put(t, s + from, len - from);
}

static void
prefix(struct export *x, const struct seen *ev, uint32_t depth)
{
	uint64_t ns = shown_ns(x->st, ev->ts);

	text_printf(&x->out, "%6llu.%09llu %7u ",
	    (unsigned long long)(ns / 1000000000),
	    (unsigned long long)(ns % 1000000000), ev->tid);
	depth *= 2;
	text_printf(&x->out, "%*s",
	    (int)(depth < INDENT_MAX ? depth : INDENT_MAX), "");
}

static void
add_duration(struct text *t, uint64_t ns, uint8_t flags)
{
	static const struct {
		uint64_t below, unit;
		const char *name;
	} units[] = { { 1000, 1, "ns" }, { 1000000, 1000, "us" },
		{ 1000000000, 1000000, "ms" },
		{ UINT64_MAX, 1000000000, "s" } };
	int i = 0;

	while (i < 3 && ns >= units[i].below)
		i++;
	text_printf(t, i == 0 ? "  (%.0f %s%s%s)" : "  (%.3f %s%s%s)",
	    (double)ns / (double)units[i].unit, units[i].name,
	    flags & EVENT_UNWOUND ? ", unwound" : "",
	    flags & EVENT_SAMPLED ? ", sampled" : "");
}

static void
show_enter(struct export *x, const struct seen *ev, uint32_t depth)
{
	static char buf[STORE_RENDER_MAX];
	const char *name = export_name(x->st, ev->fn);
	size_t n = shown_arguments(x->st, ev->fn, ev->data, ev->len, buf);

	prefix(x, ev, depth);
	text_puts(&x->out, "> ");
	text_plain(&x->out, name, strlen(name));
	text_puts(&x->out, "(");
	/* without the brackets of the array */
	if (n > 2)
		add_json(&x->out, buf + 1, n - 2);
	text_puts(&x->out, ")\n");
}

static void
show_exit(struct export *x, const struct seen *ev, uint32_t depth)
{
	static char buf[STORE_RENDER_MAX];
	const char *name = export_name(x->st, ev->fn);

	prefix(x, ev, depth);
	text_puts(&x->out, "< ");
	text_plain(&x->out, name, strlen(name));
	if (ev->len > 0) {
		text_puts(&x->out, " = ");
		add_json(&x->out, buf, shown_result(x->st, ev->fn, ev->data,
		    ev->len, buf));
	}
	add_duration(&x->out, ev->duration, ev->flags);
	text_puts(&x->out, "\n");
}

/* Within how many of its thread's calls it was written. */
static uint32_t
text_depth(struct export *x, const struct seen *ev)
{
	const struct thread *t = thread_by_ord(x->st, id_ord(ev->parent));
	struct stack *s;
	bool fresh;

	if (x->state == NULL || ev->parent == 0 || t == NULL ||
	    (s = stack_of(&x->stacks, t, &fresh)) == NULL)
		return 0;
	return stack_keep(s, ev->parent);
}

static void
show_text(struct export *x, const struct seen *ev)
{
	size_t len = ev->len;

	if (len > 0 && ((const char *)ev->data)[len - 1] == '\n')
		len--;
	prefix(x, ev, text_depth(x, ev));
	text_printf(&x->out, "%s: ", kind_name(ev->kind));
	if (ev->kind == EVENT_CRASH)
		add_json(&x->out, ev->data, len);
	else
		text_plain(&x->out, ev->data, len);
	text_puts(&x->out, "\n");
}

/* How deep a call is; keeps the stack. */
static uint32_t
depth_of(struct export *x, const struct seen *ev)
{
	struct stack *s;
	uint32_t n;
	bool fresh;

	if (x->state == NULL ||
	    (s = stack_of(&x->stacks, ev->thread, &fresh)) == NULL)
		return 0;
	if (ev->kind == EVENT_ENTER) {
		s->n = stack_within(s, ev->parent);
		return stack_push(s, ev) != NULL ? s->n - 1 : s->n;
	}
	if ((n = stack_keep(s, ev->parent)) > 0)
		s->n = n - 1;
	return s->n;
}

static void
event(struct export *x, const struct seen *ev)
{
	if (ev->thread == NULL)
		show_text(x, ev);
	else if (ev->kind == EVENT_ENTER)
		show_enter(x, ev, depth_of(x, ev));
	else
		show_exit(x, ev, depth_of(x, ev));
}

int
export_text(struct store *st, const struct query *q, bool tree,
    const struct export_to *to, char why[STORE_WHY])
{
	static const struct export_format format = { NULL, event, NULL };

	return export_run(st, q, to, &format, tree ? &tree : NULL, why);
}
