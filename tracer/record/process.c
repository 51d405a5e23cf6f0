/* SPDX-License-Identifier: ISC */
/* The processes that are traced. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "process.h"
#include "timeline.h"
#include "tracer/binary/fn.h"
#include "tracer/probe/probing.h"

/* Ring of one thread, large enough for some milliseconds without a reader. */
#define RING		((size_t)8 << 20)
/* Others are let go of: a program may fork for ever. */
#define FOLLOWED_MOST	256

struct processes processes = TAILQ_HEAD_INITIALIZER(processes);

static void	(*changed)(struct process *);
static void	(*probes_changed)(void);

static void	on_event(struct target *, const struct target_event *, void *);
static void on_write(struct target *, const struct target_write *, void *);

static unsigned int	 nfollowed;

void
process_on_change(void (*fn)(struct process *), void (*probes)(void))
{
	changed = fn;
	probes_changed = probes;
}

static struct process *
process_new(pid_t pid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->pid = pid;
	p->stale = true;
	TAILQ_INSERT_TAIL(&processes, p, entry);
	return p;
}

static void
process_free(struct process *p)
{
	uint32_t i;

	TAILQ_REMOVE(&processes, p, entry);
	for (i = 0; i < p->nhooks; i++)
		free(p->hooks[i].why);
	free(p->hooks);
	free(p->modules);
	free(p);
}

struct process *
process_open(pid_t pid, const struct target_options *options,
    char why[TARGET_WHY])
{
	struct target_options o = *options;
	struct process *p = process_new(pid);

	if (p == NULL) {
		(void)strcpy(why, "no memory");
		return NULL;
	}
	o.ring = RING;
	o.on_event = on_event;
	o.on_write = on_write;
	o.arg = p;
	p->target = target_open(pid, &o, why);
	if (p->target == NULL) {
		process_free(p);
		return NULL;
	}
	p->arrived = !o.starting;
	p->follows = o.follow_fork;
	return p;
}

/* Keeps the counts of skipped calls, which go with the process's memory. */
static void
keep_skipped(struct process *p)
{
	uint32_t n;

	for (n = 0; n < p->nhooks; n++)
		if (p->hooks[n].state == HOOK_ON)
			fn_get(n)->skipped += target_skipped(p->target, n);
}

void
process_close(struct process *p)
{
	keep_skipped(p);
	if (p->is_child)
		nfollowed--;
	target_close(p->target);
	process_free(p);
}

struct process *
process_main(void)
{
	struct process *p;

	TAILQ_FOREACH(p, &processes, entry)
		if (p->main)
			return p;
	return NULL;
}

uint64_t
process_skipped(uint32_t n)
{
	uint64_t all = fn_get(n)->skipped;
	struct process *p;

	TAILQ_FOREACH(p, &processes, entry)
		if (n < p->nhooks && p->hooks[n].state == HOOK_ON)
			all += target_skipped(p->target, n);
	return all;
}

/* -- hooks ---------------------------------------------------------------- */

struct hook *
process_hook(struct process *p, uint32_t fn)
{
	uint32_t n = p->nhooks == 0 ? 256 : p->nhooks;
	struct hook *all;

	if (fn < p->nhooks)
		return &p->hooks[fn];
	while (n <= fn)
		n *= 2;
	all = reallocarray(p->hooks, n, sizeof(*all));
	if (all == NULL)
		return NULL;
	memset(all + p->nhooks, 0, (n - p->nhooks) * sizeof(*all));
	p->hooks = all;
	p->nhooks = n;
	return &all[fn];
}

void
hook_set(struct process *p, struct hook *h, enum hook_state state)
{
	p->non -= h->state == HOOK_ON;
	p->nfailed -= h->state == HOOK_FAILED;
	h->state = state;
	p->non += state == HOOK_ON;
	p->nfailed += state == HOOK_FAILED;
}

void
hook_forget(struct process *p, struct hook *h)
{
	hook_set(p, h, HOOK_NONE);
	free(h->why);
	memset(h, 0, sizeof(*h));
}

static void
forget_all(struct process *p)
{
	uint32_t i;

	for (i = 0; i < p->nhooks; i++)
		hook_forget(p, &p->hooks[i]);
}

static void
copy_hooks(struct process *to, const struct process *from)
{
	uint32_t i;

	if (from->nhooks == 0 || process_hook(to, from->nhooks - 1) == NULL)
		return;
	for (i = 0; i < from->nhooks; i++) {
		to->hooks[i] = from->hooks[i];
		to->hooks[i].why = from->hooks[i].why == NULL ? NULL :
		    strdup(from->hooks[i].why);
	}
	to->non = from->non;
	to->nfailed = from->nfailed;
}

/* Its parent may have been given others, or lost some, after its birth. */
static void
correct_hooks(struct process *p)
{
	struct hook *h;
	uint32_t fn;

	for (fn = 0; fn < p->nhooks; fn++) {
		h = &p->hooks[fn];
		if ((h->state == HOOK_ON) == target_has(p->target, fn))
			continue;
		hook_forget(p, h);
		if (target_has(p->target, fn))
			hook_set(p, h, HOOK_ON);
	}
	p->unsettled = true;
	probes_changed();
}

/* Until it is looked at: it may crash before. */
static void
copy_modules(struct process *to, const struct process *from)
{
	if (from->nmodules == 0)
		return;
	to->modules = reallocarray(NULL, from->nmodules,
	    sizeof(*to->modules));
	if (to->modules == NULL)
		return;
	memcpy(to->modules, from->modules, from->nmodules *
	    sizeof(*to->modules));
	to->nmodules = from->nmodules;
}

/* -- where they are ------------------------------------------------------- */

static const struct module *
module_at(const struct process *p, uint64_t addr)
{
	size_t i;

	for (i = 0; i < p->nmodules; i++)
		if (addr >= p->modules[i].base && addr < p->modules[i].end)
			return &p->modules[i];
	return NULL;
}

static void
put_str(struct text *t, const char *key, const char *s)
{
	text_printf(t, ",\"%s\":", key);
	json_quoted(t, s, strlen(s));
}

void
process_place(const struct target_event *e, struct text *t, void *arg)
{
	uint64_t addr;
	const struct sym_func *f;
	const struct symindex *ix;
	const struct module *m;
	struct process *p;

	(void)arg;
	TAILQ_FOREACH(p, &processes, entry)
		if (p->pid == e->pid)
			break;
	if (p == NULL || (m = module_at(p, e->pc)) == NULL)
		return;
	put_str(t, "binary", m->binary->path);
	if (m->binary->state != BINARY_READY)
		return;
	ix = &m->binary->ix;
	addr = e->pc - module_bias(m);
	if ((f = symindex_at(ix, addr)) == NULL)
		return;
	put_str(t, "function", symindex_str(ix, f->name));
	put_str(t, "sourceFile", symindex_str(ix, f->file));
	text_printf(t, ",\"line\":%u,\"offset\":%llu", f->line,
	    (unsigned long long)(addr - f->addr));
}

/* -- what happens --------------------------------------------------------- */

static void
on_fork(struct process *parent, const struct target_event *e)
{
	struct process *p;

	if (e->child == NULL)
		return;
	p = process_new(e->child_pid);
	if (p == NULL)
		fatalx("no memory for a process");
	p->target = e->child;
	p->unwanted = ++nfollowed > FOLLOWED_MOST;
	p->is_child = true;
	p->arrived = true;
	target_set_arg(e->child, p);
	copy_hooks(p, parent);
	copy_modules(p, parent);
	/* what its parent waits for it has not got either */
	p->unsettled = parent->unsettled;
	if (e->differs)
		correct_hooks(p);
	timeline_forked(p);
}

static void
on_exec(struct process *p)
{
	/* what was passed over went with the memory that it was counted in */
	forget_all(p);
	free(p->modules);
	p->modules = NULL;
	p->nmodules = 0;
	p->stale = true;
	p->watched = false;
	p->arrived = true;
	changed(p);
}

static void
on_event(struct target *t, const struct target_event *e, void *arg)
{
	struct process *p = arg;

	/* also while it is being opened */
	p->target = t;
	/* calls that came before it; behind its end they were another thread's */
	if (e->kind == TARGET_CRASH || e->kind == TARGET_THREAD_GONE ||
	    e->kind == TARGET_EXEC || e->kind == TARGET_FORK)
		timeline_read_one(p);
	timeline_event(p, e);
	switch (e->kind) {
	case TARGET_FORK:
		on_fork(p, e);
		break;
	case TARGET_EXEC:
		on_exec(p);
		break;
	case TARGET_OBJECTS:
		p->stale = true;
		changed(p);
		break;
	case TARGET_EXIT:
		p->over = true;
		p->status = e->status;
		break;
	default:
		break;
	}
}

static void
on_write(struct target *t, const struct target_write *w, void *arg)
{
	(void)t;
	(void)arg;
	timeline_write(w);
}
