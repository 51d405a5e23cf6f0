/* SPDX-License-Identifier: ISC */
/* The stacks of threads while their events pass by. */
#include <stdlib.h>
#include <string.h>

#include "export_stack.h"

struct stack *
stack_of(struct stacks *ss, const struct thread *t, bool *fresh)
{
	struct stack **bucket = &ss->buckets[t->ord % STACK_BUCKETS], *s;

	*fresh = false;
	for (s = *bucket; s != NULL; s = s->next)
		if (s->thread == t)
			return s;
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return NULL;
	*fresh = true;
	s->thread = t;
	s->next = *bucket;
	*bucket = s;
	return s;
}

uint32_t
stack_keep(const struct stack *s, uint64_t id)
{
	uint32_t n = s->n;

	while (n > 0 && s->frames[n - 1].id != id)
		n--;
	return n;
}

uint32_t
stack_within(const struct stack *s, uint64_t id)
{
	uint32_t n = stack_keep(s, id);

	return n == 0 && s->n == STACK_DEPTH_MAX ? s->n : n;
}

struct frame *
stack_push(struct stack *s, const struct seen *ev)
{
	uint32_t cap = s->cap == 0 ? 16 : 2 * s->cap;
	struct frame *frames;

	/* what never ends has nothing within it */
	if (s->n == STACK_DEPTH_MAX || (ev->flags & EVENT_OPEN) != 0)
		return NULL;
	if (s->n == s->cap) {
		frames = reallocarray(s->frames, cap, sizeof(*frames));
		if (frames == NULL)
			return NULL;
		s->frames = frames;
		s->cap = cap;
	}
	s->frames[s->n] = (struct frame){ .id = ev->id, .ts = ev->ts,
		.fn = ev->fn };
	return &s->frames[s->n++];
}

void
stacks_free(struct stacks *ss)
{
	struct stack *s;
	int i;

	for (i = 0; i < STACK_BUCKETS; i++)
		while ((s = ss->buckets[i]) != NULL) {
			ss->buckets[i] = s->next;
			free(s->frames);
			free(s);
		}
}
