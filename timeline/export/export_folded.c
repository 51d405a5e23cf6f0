/* SPDX-License-Identifier: ISC */
/*
 * Folded stacks for flame graphs: "main;parse;read 1234", ns that were spent
 * in read itself.  Every stack that was ever seen is a node of a tree.
 */
#include <stdlib.h>
#include <string.h>

#include "export_int.h"

#define NODES_MAX	(1U << 20)	/* a program may have stacks for ever */
#define ROOT		0U

struct node {
	uint64_t self;
	uint32_t parent, fn;
};

struct tree {
	struct node *nodes;		/* owned */
	uint32_t *index;		/* node + 1 by parent and function */
	uint32_t n, cap, slots;
};

static uint32_t
slot_of(const struct tree *t, uint32_t parent, uint32_t fn)
{
	uint64_t h = ((uint64_t)parent << 32 | fn) *
	    UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & (t->slots - 1);

	while (t->index[i] != 0 && (t->nodes[t->index[i] - 1].parent !=
	    parent || t->nodes[t->index[i] - 1].fn != fn))
		i = (i + 1) & (t->slots - 1);
	return i;
}

static bool
grow(struct tree *t)
{
	uint32_t cap = t->cap == 0 ? 1024 : 2 * t->cap, i, *index;
	struct node *nodes;

	if (t->n < t->cap)
		return true;
	if (cap > NODES_MAX)
		return false;
	if ((nodes = reallocarray(t->nodes, cap, sizeof(*nodes))) == NULL)
		return false;
	t->nodes = nodes;
	if ((index = calloc(2 * cap, sizeof(*index))) == NULL)
		return false;
	free(t->index);
	t->index = index;
	t->cap = cap;
	t->slots = 2 * cap;
	for (i = 1; i < t->n; i++)
		t->index[slot_of(t, t->nodes[i].parent, t->nodes[i].fn)] =
		    i + 1;
	return true;
}

/* The node of a function called from parent; parent itself if too many. */
static uint32_t
child(struct tree *t, uint32_t parent, uint32_t fn)
{
	uint32_t i;

	if (!grow(t))
		return parent;
	i = slot_of(t, parent, fn);
	if (t->index[i] == 0) {
		t->nodes[t->n] = (struct node){ .parent = parent, .fn = fn };
		t->index[i] = ++t->n;
	}
	return t->index[i] - 1;
}

static void
enter(struct tree *t, struct stack *s, const struct seen *ev)
{
	uint32_t parent;
	struct frame *f;

	s->n = stack_within(s, ev->parent);
	parent = s->n > 0 ? s->frames[s->n - 1].node : ROOT;
	if ((f = stack_push(s, ev)) != NULL)
		f->node = child(t, parent, ev->fn);
}

static void
leave(struct tree *t, struct stack *s, const struct seen *ev)
{
	uint32_t keep = stack_keep(s, ev->parent);
	struct frame *f;

	if (keep == 0)
		return;
	f = &s->frames[keep - 1];
	s->n = keep - 1;
	if (ev->duration > f->within)
		t->nodes[f->node].self += ev->duration - f->within;
	if (s->n > 0)
		s->frames[s->n - 1].within += ev->duration;
}

static void
event(struct export *x, const struct seen *ev)
{
	struct stack *s;
	bool fresh;

	if (ev->thread == NULL)
		return;
	if ((s = stack_of(&x->stacks, ev->thread, &fresh)) == NULL)
		x->failed = true;
	else if (ev->kind == EVENT_ENTER)
		enter(x->state, s, ev);
	else
		leave(x->state, s, ev);
}

/* In this format ; is between names, and a blank before the number. */
static void
add_name(struct text *out, const char *name)
{
	size_t from = out->len;
	char *c;

	text_plain(out, name, strlen(name));
	if (out->bad)
		return;
	for (c = out->p + from; *c != '\0'; c++)
		if (*c == ';')
			*c = ':';
}

static void
add_stack(struct export *x, const struct tree *t, uint32_t leaf)
{
	uint32_t path[STACK_DEPTH_MAX + 1], n = 0, i;

	for (i = leaf; i != ROOT && n <= STACK_DEPTH_MAX;
	    i = t->nodes[i].parent)
		path[n++] = i;
	while (n > 0) {
		add_name(&x->out, export_name(x->st, t->nodes[path[--n]].fn));
		if (n > 0)
			text_puts(&x->out, ";");
	}
	text_printf(&x->out, " %llu\n",
	    (unsigned long long)t->nodes[leaf].self);
}

static void
end(struct export *x)
{
	const struct tree *t = x->state;
	uint32_t i;

	for (i = 1; i < t->n && !x->failed; i++) {
		if (t->nodes[i].self == 0)
			continue;
		add_stack(x, t, i);
		if (x->out.len > ((size_t)1 << 20)) {
			if (x->out.bad || x->to->write(x->to->arg, x->out.p,
			    x->out.len) == -1)
				x->failed = true;
			text_reset(&x->out, SIZE_MAX);
		}
	}
}

int
export_folded(struct store *st, const struct query *q,
    const struct export_to *to, char why[STORE_WHY])
{
	static const struct export_format format = { NULL, event, end };
	struct tree t = { .n = 1 };	/* the root */
	int ret;

	ret = export_run(st, q, to, &format, &t, why);
	free(t.nodes);
	free(t.index);
	return ret;
}
