/* SPDX-License-Identifier: ISC */
/* Targets that there are, what is told of them, and statuses of their threads
 * that wait to be attended to. */
#include <sys/wait.h>

#include <stdlib.h>

#include "clock.h"
#include "proc.h"
#include "thread.h"

static struct target *targets;
static struct pending *first, **last = &first;

/* --- targets -------------------------------------------------------------- */

struct target *
targets_all(void)
{
	return (targets);
}

struct target *
target_of(pid_t tid, struct thread **thp)
{
	struct target *t;
	struct thread *th;

	for (t = targets; t != NULL; t = t->next)
		for (th = t->threads; th != NULL; th = th->next)
			if (th->tid == tid) {
				*thp = th;
				return (t);
			}
	*thp = NULL;
	return (NULL);
}

void
target_link(struct target *t)
{
	t->next = targets;
	targets = t;
}

bool
target_expects(const struct target *t)
{
	const struct target *c;

	for (c = targets; c != NULL; c = c->next)
		if (c->threads != NULL && c->threads->parent == t)
			return (true);
	return (false);
}

void
target_unlink(struct target *t)
{
	struct target **at = &targets, *c;

	for (c = targets; c != NULL; c = c->next)
		if (c->threads != NULL && c->threads->parent == t)
			c->threads->parent = NULL;
	while (*at != NULL && *at != t)
		at = &(*at)->next;
	if (*at != NULL)
		*at = t->next;
}

void
target_report(struct target *t, const struct target_event *e)
{
	struct target_event copy = *e;

	if (t->opt.on_event == NULL || t->unwanted)
		return;
	copy.pid = t->pid;
	if (copy.ts == 0)
		copy.ts = clock_ns();
	t->opt.on_event(t, &copy, t->opt.arg);
}

/* --- the queue ------------------------------------------------------------ */

void
event_queue(pid_t tid, int status, unsigned long msg, bool has_msg,
    uint64_t since)
{
	struct pending *p;

	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return;
	p->tid = tid;
	p->status = status;
	p->msg = msg;
	p->has_msg = has_msg;
	p->since = since;
	*last = p;
	last = &p->next;
}

void
event_later(pid_t tid, int status, unsigned long msg)
{
	event_queue(tid, status, msg, true, 0);
}

bool
event_waits(pid_t tid)
{
	const struct pending *p;

	for (p = first; p != NULL; p = p->next)
		if (p->tid == tid)
			return (true);
	return (false);
}

void
event_forget(pid_t tid)
{
	struct pending **at = &first, *p;

	while ((p = *at) != NULL)
		if (p->tid == tid && WIFSTOPPED(p->status)) {
			*at = p->next;
			free(p);
		} else
			at = &p->next;
	last = at;
}

bool
event_next(struct pending *out)
{
	struct pending *p = first;

	if (p == NULL)
		return (false);
	first = p->next;
	if (first == NULL)
		last = &first;
	*out = *p;
	free(p);
	return (true);
}

size_t
events_waiting(void)
{
	const struct pending *p;
	size_t n = 0;

	for (p = first; p != NULL; p = p->next)
		n++;
	return (n);
}
