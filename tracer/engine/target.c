/* SPDX-License-Identifier: ISC */
/* Targets: attached to, read, let go. */
#include <sys/stat.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "clock.h"
#include "maps.h"
#include "proc.h"
#include "ringread.h"
#include "thread.h"

#define RING_USUAL	(4UL << 20)
#define RING_MOST	(1UL << 30)
#define FULL		8	/* a ring of which so much is in use: an 8th */
#define AUXV_MOST	64
#define PASTS_MOST	4	/* programs whose records have not been read */
#define NAME_NS 1000000000ULL   /* between two looks at a thread's name */
#define LATE_MS		1000	/* records may be newer than the look at the
				 * clock before them */

/* --- attaching ------------------------------------------------------------ */

/* Where its code begins, as the kernel has told it. */
bool
target_entry(struct target *t, char why[TARGET_WHY])
{
	Elf64_auxv_t aux[AUXV_MOST];
	char path[64];
	ssize_t n;
	size_t i;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/auxv",
	    (int)maps_task(t->pid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read_again(fd, aux, sizeof(aux));
	if (fd >= 0)
		(void)close(fd);
	t->entry = 0;
	for (i = 0; n > 0 && i < (size_t)n / sizeof(aux[0]); i++)
		if (aux[i].a_type == AT_ENTRY)
			t->entry = aux[i].a_un.a_val;
	if (t->entry == 0)
		(void)snprintf(why, TARGET_WHY, "process %d does not say where "
		    "its program begins: it is a zombie or the kernel's",
		    (int)t->pid);
	return (t->entry != 0);
}

bool
target_await(struct target *t)
{
	uint8_t trap[ARCH_TRAP] = { 0 };

	arch_trap(trap);
	return (mem_read(t, t->entry, t->entry_code, sizeof(trap)) &&
	    mem_write(t, t->entry, trap, sizeof(trap)));
}

static bool
is_elf64(pid_t pid, char why[TARGET_WHY], bool *known)
{
	unsigned char ident[EI_NIDENT];
	char path[64];
	bool ok;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe",
	    (int)maps_task(pid));
	*known = false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		(void)snprintf(why, TARGET_WHY, "process %d cannot be looked "
		    "at: %s", (int)pid, strerror(errno));
		return (false);
	}
	ok = read_again(fd, ident, sizeof(ident)) == (ssize_t)sizeof(ident) &&
	    memcmp(ident, ELFMAG, SELFMAG) == 0 &&
	    ident[EI_CLASS] == ELFCLASS64;
	(void)close(fd);
	*known = true;
	if (!ok)
		(void)snprintf(why, TARGET_WHY, "process %d runs no 64-bit "
		    "program; only those can be traced", (int)pid);
	return (ok);
}

bool
target_supported(pid_t pid, char why[TARGET_WHY])
{
	bool known;

	if (arch_supported() == NULL)
		return (is_elf64(pid, why, &known) || !known);
	(void)snprintf(why, TARGET_WHY, "%s", arch_supported());
	return (false);
}

static bool
check_options(struct target_options *o, char why[TARGET_WHY])
{
	if (o->ring == 0)
		o->ring = RING_USUAL;
	if (o->ring >= RING_LEAST && o->ring <= RING_MOST &&
	    (o->ring & (o->ring - 1)) == 0)
		return (true);
	(void)snprintf(why, TARGET_WHY, "a ring of %zu bytes cannot be: it "
	    "has a power of two, from 65536 to 1073741824", o->ring);
	return (false);
}

/* The agent goes in; all threads stand. */
static bool
take(struct target *t, char why[TARGET_WHY])
{
	struct thread *th;
	bool ok = false, filtered = false;

	(void)threads_stop(t);
	for (th = t->threads; th != NULL; th = th->next) {
		if (th->stop == STOP_NONE || th->dead || !thread_settle(t, th))
			continue;
		if (!thread_filtered(t, th))
			break;
		filtered = true;
	}
	if (th == NULL && filtered)
		(void)snprintf(why, TARGET_WHY, "process %d has a system call "
		    "filter of its own, which might kill it for what is done "
		    "in its name; launch it to be traced", (int)t->pid);
	else if (th == NULL)
		(void)snprintf(why, TARGET_WHY, "process %d cannot be "
		    "stopped", (int)t->pid);
	else
		ok = inject(t, th, why);
	if (ok)
		threads_go(t);
	return (ok);
}

/* The agent goes in when the loader is done, and the thread has its TLS. */
static bool
take_later(struct target *t, char why[TARGET_WHY])
{
	(void)threads_stop(t);
	t->arriving = target_await(t);
	threads_go(t);
	if (!t->arriving)
		(void)snprintf(why, TARGET_WHY, "the program of process %d "
		    "cannot be changed", (int)t->pid);
	return (t->arriving);
}

struct target *
target_open(pid_t pid, const struct target_options *opt, char why[TARGET_WHY])
{
	struct target *t;
	char path[64];
	bool known;

	if (arch_supported() != NULL) {
		(void)snprintf(why, TARGET_WHY, "%s", arch_supported());
		return (NULL);
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL || (t->slots = calloc(AGENT_THREADS,
	    sizeof(*t->slots))) == NULL) {
		(void)snprintf(why, TARGET_WHY, "no memory");
		free(t);
		return (NULL);
	}
	t->pid = pid;
	t->mem_fd = -1;
	t->opt = *opt;
	filters_note(t);
	(void)target_fd();
	clock_mark();
	if (!check_options(&t->opt, why) || !is_elf64(pid, why, &known) ||
	    !threads_seize(t, why))
		goto fail;
	t->alive = true;
	target_link(t);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem",
	    (int)maps_task(pid));
	t->mem_fd = open(path, O_RDWR | O_CLOEXEC);
	if (t->mem_fd < 0) {
		(void)snprintf(why, TARGET_WHY, "the memory of process %d "
		    "cannot be opened: %s", (int)pid, strerror(errno));
		goto fail;
	}
	if (target_entry(t, why) &&
	    (opt->starting ? take_later(t, why) : take(t, why)))
		return (t);
fail:
	target_close(t);
	return (NULL);
}

/* --- letting go ----------------------------------------------------------- */

void
objects_forget(struct target *t)
{
	free(t->objects);
	free(t->twice);
	free(t->walked);
	t->objects = t->twice = t->walked = NULL;
	t->nobjects = t->ntwice = t->nwalked = 0;
	t->walker = 0;
	t->small = t->blind = false;
	t->scans = NULL;
}

bool
past_keep(struct target *t)
{
	const struct target *older;
	struct slot *slots;
	struct target *p;
	int n = 0;

	for (older = t->past; older != NULL; older = older->past)
		n++;
	if (!t->injected || n >= PASTS_MOST)
		return (false);
	p = malloc(sizeof(*p));
	slots = calloc(AGENT_THREADS, sizeof(*slots));
	if (p == NULL || slots == NULL) {
		free(p);
		free(slots);
		return (false);
	}
	*p = *t;
	p->threads = NULL;
	p->alive = false;
	p->mem_fd = -1;
	p->objects = p->twice = p->walked = NULL;
	t->past = p;
	t->slots = slots;
	t->control = NULL;
	t->blocks = NULL;
	t->nslots = 0;
	t->injected = false;
	t->agent = t->gadget = 0;
	t->probes = NULL;
	t->by_fn = NULL;
	t->areas = NULL;
	memset(p->stages, 0, sizeof(p->stages));
	t->nprobes = 0;
	probes_forget(t);
	t->generation++;
	return (true);
}

void
target_free(struct target *t)
{
	if (t->past != NULL)
		target_free(t->past);
	while (t->threads != NULL)
		thread_drop(t, t->threads);
	if (t->slots != NULL)
		inject_forget(t);
	probes_forget(t);
	objects_forget(t);
	if (t->mem_fd >= 0)
		(void)close(t->mem_fd);
	free(t->slots);
	free(t);
}

/* Removes the trap at the program's entry; threads it stopped start there. */
static void
await_no_more(struct target *t)
{
	struct thread *th;

	if (!t->arriving)
		return;
	(void)mem_write(t, t->entry, t->entry_code, ARCH_TRAP);
	for (th = t->threads; th != NULL; th = th->next)
		thread_untrap(t, th);
}

void
target_close(struct target *t)
{
	struct thread *th;

	if (t == NULL)
		return;
	if (t->alive) {
		(void)threads_stop(t);
		await_no_more(t);
		code_restore(t);
		stacks_restore(t);
		inject_rest(t);
		threads_detach(t);
	} else
		threads_detach(t);
	for (th = t->threads; th != NULL; th = th->next)
		event_forget(th->tid);
	target_unlink(t);
	target_free(t);
}

/* --- reading -------------------------------------------------------------- */

static uint64_t upto;	/* a tsc; 0: no moment has been taken */

void
target_moment(void)
{
	upto = arch_clock();
}

struct reading {
	struct target *t;
	struct target *self;	/* whom it is about: t, or what t was */
	struct slot *slot;
	uint32_t n;		/* of the slot */
	bool	 briefly;
	target_record_fn fn;
	void	*arg;
	struct trace_record out;
};

/* Records name probes: what a function's id stood for when they were made. */
static const struct ring_programs *
lookup(uint32_t index, void *arg)
{
	const struct reading *r = arg;
	const struct probe *p;

	if (index >= r->t->nprobes)
		return (NULL);
	p = &r->t->probes[index];
	if (!p->built || (p->hidden && p->inner == INNER_NONE))
		return (NULL);
	return (&p->told);
}

/* Within a target: which program and which slot above, what is unique in its
 * ring below. */
static uint64_t
unique(const struct reading *r, uint64_t id)
{
	return (id == 0 ? 0 : (uint64_t)(r->t->generation & 63) << 58 |
	    (uint64_t)r->n << 48 | (id & 0xffffffffffff));
}

static void
on_record(const struct ring_record *in, void *arg)
{
	static const uint8_t kinds[] = { [AGENT_ENTER] = TRACE_ENTER,
	    [AGENT_EXIT] = TRACE_EXIT, [RING_CALL] = TRACE_CALL };
	struct reading *r = arg;
	const struct probe *p = &r->t->probes[in->fn];
	struct trace_record *out = &r->out;
	uint64_t ts = clock_convert(in->tsc);

	out->duration = in->kind == RING_CALL ?
	    clock_span(in->end - in->tsc) : in->kind == AGENT_EXIT ?
	    ts - clock_convert(in->start) : 0;
	/* a new bearing may differ by some nanoseconds */
	out->ts = ts < r->slot->last_ts ? r->slot->last_ts : ts;
	r->slot->last_ts = out->ts + (in->kind == RING_CALL ? out->duration :
	    0);
	out->id = unique(r, in->id);
	out->parent = in->kind == AGENT_EXIT ? 0 : unique(r, in->link);
	out->fn = p->fn;
	out->tid = r->slot->tid;
	out->kind = kinds[in->kind];
	out->flags = in->flags;
	out->depth = in->depth;
	out->captures = in->captures;
	out->captures_len = in->captures_len;
	if (in->kind == RING_CALL) {
		out->exit_captures = in->exit_captures;
		out->exit_captures_len = in->exit_captures_len;
	}
	if (!p->hidden)
		r->fn(r->self, out, r->arg);
	/* these are never told with their ends */
	if (p->inner != INNER_NONE && out->kind == TRACE_ENTER)
		inner_tell(r->self, p, out,
		    p->hidden || (out->flags & TRACE_OPEN) != 0 ? out->parent
								: out->id);
}

static void
report_lost(struct target *t, struct target *self, struct slot *s, uint32_t n)
{
	struct agent_slot sh = t->control->slots[n];
	struct target_event e;

	memset(&e, 0, sizeof(e));
	e.kind = TARGET_LOST;
	e.tid = s->tid;
	e.calls = sh.lost - s->lost;
	e.exits = sh.lost_exits - s->lost_exits;
	e.deep = sh.deep - s->deep;
	e.torn = ring_torn(s->reader);
	s->lost = sh.lost;
	s->lost_exits = sh.lost_exits;
	s->deep = sh.deep;
	if (e.calls != 0 || e.exits != 0 || e.deep != 0 || e.torn != 0)
		target_report(self, &e);
}

/* Threads beyond what there are slots for, or that hide. */
static void
report_strangers(struct target *t, struct target *self)
{
	uint64_t n = *(volatile uint64_t *)&t->control->strangers;
	struct target_event e;

	if (n == t->strangers)
		return;
	memset(&e, 0, sizeof(e));
	e.kind = TARGET_LOST;
	e.calls = n - t->strangers;
	t->strangers = n;
	target_report(self, &e);
}

/* Looks for a new thread name: others may have set it unseen. */
static void
look_at_name(struct target *self, struct slot *s)
{
	uint64_t now = clock_ns();
	struct target_event e;

	if (s->named != 0 && now - s->named < NAME_NS)
		return;
	s->named = now;
	memset(&e, 0, sizeof(e));
	e.kind = TARGET_NAMED;
	e.tid = s->tid;
	if (!thread_comm(self, s->tid, e.name) ||
	    memcmp(e.name, s->name, sizeof(e.name)) == 0)
		return;
	memcpy(s->name, e.name, sizeof(s->name));
	target_report(self, &e);
}

/* Rings that fill up while others are read are emptied. */
static void
breathe(void *arg)
{
	const struct reading *r = arg;
	struct target *t = r->t;
	struct agent_slot *sh = t->control->slots;
	struct slot *s;
	uint32_t i;

	for (i = 0; i < t->nslots; i++, sh++) {
		s = &t->slots[i];
		if (s->tid == 0 || *(volatile uint64_t *)&sh->head -
		    ring_tail(s->reader) < t->opt.ring / 8 / FULL)
			continue;
		ring_put_aside(s->reader);
		__atomic_store_n(&sh->tail, ring_tail(s->reader),
		    __ATOMIC_RELEASE);
	}
}

static size_t
read_slot(struct target *t, uint32_t n, struct reading *r, uint64_t now)
{
	struct agent_slot *sh = &t->control->slots[n];
	struct slot *s = &t->slots[n];
	bool gone = s->gone || !t->alive;
	const struct ring_ops ops = { .lookup = lookup, .record = on_record,
		.arg = r, .tail = &sh->tail, .upto = gone ? 0 : upto,
		.breathe = breathe, .briefly = r->briefly };
	size_t got;

	r->slot = s;
	r->n = n;
	got = ring_reader_read(s->reader, &ops, now, *(volatile uint64_t *)&sh->head,
	    gone);
	__atomic_store_n(&sh->tail, ring_tail(s->reader), __ATOMIC_RELEASE);
	report_lost(t, r->self, s, n);
	if (got > 0 && !gone)
		look_at_name(r->self, s);
	if (ring_more(s->reader))
		t->more = true;
	else if (s->gone && t->alive) {
		s->tid = 0;
		s->gone = false;
		s->last_ts = 0;
	}
	return (got);
}

static size_t
read_all(struct target *t, struct target *self, bool briefly,
    target_record_fn fn, void *arg)
{
	struct reading r = { .t = t, .self = self, .briefly = briefly,
		.fn = fn, .arg = arg };
	uint64_t now;
	size_t got = 0;
	uint32_t i;

	if (t->control == NULL)
		return (0);
	clock_mark();
	now = arch_clock();
	t->control->coarse_tsc = now;
	now += clock_ticks(LATE_MS);
	for (i = 0; i < t->nslots; i++)
		if (t->slots[i].tid != 0)
			got += read_slot(t, i, &r, now);
	report_strangers(t, self);
	return (got);
}

/* The oldest first. */
static size_t
read_past(struct target *p, struct target *self, target_record_fn fn,
    void *arg)
{
	size_t got;

	if (p == NULL)
		return (0);
	got = read_past(p->past, self, fn, arg);
	return (got + read_all(p, self, false, fn, arg));
}

size_t
target_read(struct target *t, bool briefly, target_record_fn fn, void *arg)
{
	size_t got = 0;

	if (t->past != NULL) {
		got = read_past(t->past, t, fn, arg);
		target_free(t->past);
		t->past = NULL;
	}
	t->more = false;
	return (got + read_all(t, t, briefly, fn, arg));
}

bool
target_more(const struct target *t)
{
	return (t->more);
}

bool
target_relax(void)
{
	return (ring_relax());
}

/* --- */

pid_t
target_pid(const struct target *t)
{
	return (t->pid);
}

bool
target_alive(const struct target *t)
{
	return (t->alive);
}

void
target_set_arg(struct target *t, void *arg)
{
	t->opt.arg = arg;
}
