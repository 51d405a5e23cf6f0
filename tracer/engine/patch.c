/* SPDX-License-Identifier: ISC */
/*
 * Probes: planned while the target runs, put in while it stands.
 *
 * Everything that takes long (reading functions, writing stubs that nobody
 * refers to yet) comes before the stop; in it, code is compared with what was
 * planned for, threads that stand in what moves are moved with it, and pages
 * are written whole.
 */
#include <sys/mman.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "clock.h"
#include "maps.h"
#include "proc.h"
#include "thread.h"

#define FN_MOST		(1U << 22)
#define CODE_MOST	(1UL << 20)	/* bytes read of one function */
#define CODE_UNKNOWN	4096UL		/* of one without a size */
#define BEHIND		16		/* bytes read behind it: padding */
#define WINDOWS		10		/* budget windows in a second */
#define PAGE		4096UL
#define STUB_ALIGN 16UL
#define RUN		16		/* pages written at one time */

/* A function on its way to being watched. */
struct job {
	struct arch_code code;
	uint8_t	*bytes;		/* owned */
	uint32_t index;		/* of the probe */
	uint32_t flags;
	uint8_t inner;          /* enum inner, of what is at that address */
	bool	 again;		/* the probe has been there before */
	bool back;              /* only if it has, and its code with it */
	const struct probe_spec *spec;	/* NULL: the engine's own */
	struct probe_result *result;
	uint64_t lo, hi;	/* the text that it is in */
};

static void
refuse(struct job *j, const char *why)
{
	j->result->ok = false;
	(void)snprintf(j->result->why, TARGET_WHY, "%s", why);
}

/* --- programs ------------------------------------------------------------- */

static size_t
program_len(const struct capture *c)
{
	size_t n;

	for (n = 0; c != NULL && n < CAPTURE_MAX && c[n].op != CAP_END; n++)
		;
	return (n);
}

static bool
step_ok(const struct capture *c)
{
	if (c->op >= CAP_OPS || c->reg > 15 || c->len == 0 ||
	    c->len > CAPTURE_LEN_MAX)
		return (false);
	if (c->op == CAP_REG)
		return (c->len <= 8);
	if (c->op == CAP_VEC)
		return (c->len <= 16);
	if (c->op == CAP_X87)
		return (c->len == 16);
	if (c->op == CAP_SLICE || c->op == CAP_STKSLICE ||
	    c->op == CAP_MIXSLICE)
		return (c->scale > 0);
	return (c->op != CAP_REGSLICE || (c->scale > 0 && c->off >= 0 &&
	    c->off <= 15));
}

static bool
program_ok(const struct capture *c)
{
	size_t i, n = program_len(c);

	for (i = 0; i < n; i++)
		if (!step_ok(&c[i]))
			return (false);
	return (true);
}

/* Size of a program's captures, if it is always the same. */
static uint32_t
program_size(const struct capture *c)
{
	size_t i, size = 0, n = program_len(c);

	for (i = 0; i < n; i++) {
		if (c[i].op != CAP_REG && c[i].op != CAP_VEC &&
		    c[i].op != CAP_STACK && c[i].op != CAP_MEM)
			return (PROBE_VARIES);
		size += captured_size(c[i].len);
	}
	return (size > CAPTURE_BYTES_MAX ? PROBE_VARIES : (uint32_t)size);
}

/* Whether the agent needs to look at no step's kind. */
static bool
is_registers(const struct capture *c)
{
	size_t i, n = program_len(c);

	for (i = 0; i < n; i++)
		if (c[i].op != CAP_REG || c[i].len < 1 || c[i].len > 8)
			return (false);
	return (n > 0);
}

/* malloc'ed, with its CAP_END; NULL for none. */
static struct capture *
program_copy(const struct capture *c)
{
	size_t n = program_len(c);
	struct capture *p;

	if (n == 0)
		return (NULL);
	p = calloc(n + 1, sizeof(*p));
	if (p != NULL)
		memcpy(p, c, n * sizeof(*p));
	return (p);
}

/* --- indices -------------------------------------------------------------- */

static bool
by_fn_set(struct target *t, uint32_t fn, uint32_t index)
{
	uint32_t *more, room;

	if (fn >= t->nby_fn) {
		room = fn < 1024 ? 2048 : 2 * fn;
		more = reallocarray(t->by_fn, room, sizeof(*more));
		if (more == NULL)
			return (false);
		memset(more + t->nby_fn, 0, (room - t->nby_fn) *
		    sizeof(*more));
		t->by_fn = more;
		t->nby_fn = room;
	}
	t->by_fn[fn] = index + 1;
	return (true);
}

static struct probe *
by_fn(const struct target *t, uint32_t fn)
{
	if (fn >= t->nby_fn || t->by_fn[fn] == 0)
		return (NULL);
	return (&t->probes[t->by_fn[fn] - 1]);
}

/* A new one; its index is never used for another function again. */
static bool
probe_new(struct target *t, uint32_t *index)
{
	struct probe *more;
	uint32_t room;

	if (t->nprobes == AGENT_CHUNKS * AGENT_CHUNK)
		return (false);
	if (t->nprobes == t->room) {
		room = t->room == 0 ? AGENT_CHUNK : 2 * t->room;
		more = reallocarray(t->probes, room, sizeof(*more));
		if (more == NULL)
			return (false);
		memset(more + t->room, 0, (room - t->room) * sizeof(*more));
		t->probes = more;
		t->room = room;
	}
	*index = t->nprobes++;
	return (true);
}

/* Functions that are or were watched, or are about to be, by address. */
struct funcs {
	uint32_t *slots;	/* index + 1, 0: free */
	size_t	 mask;
};

static uint32_t *
func_slot(const struct target *t, const struct funcs *f, uint64_t func)
{
	size_t at = (size_t)(func * 0x9e3779b97f4a7c15UL >> 20) & f->mask;

	while (f->slots[at] != 0 &&
	    t->probes[f->slots[at] - 1].func != func)
		at = (at + 1) & f->mask;
	return (&f->slots[at]);
}

static bool
funcs_make(const struct target *t, struct funcs *f, size_t more)
{
	size_t size = 64;
	uint32_t i;

	while (size < 2 * (t->nprobes + more))
		size *= 2;
	f->mask = size - 1;
	f->slots = calloc(size, sizeof(*f->slots));
	/* the latest of each, which is the only one that may be on */
	for (i = 0; f->slots != NULL && i < t->nprobes; i++)
		if (t->probes[i].built)
			*func_slot(t, f, t->probes[i].func) = i + 1;
	return (f->slots != NULL);
}

static struct probe *
probe_at(const struct target *t, const struct funcs *f, uint64_t func)
{
	uint32_t i = *func_slot(t, f, func);

	return (i == 0 ? NULL : &t->probes[i - 1]);
}

/* --- planning ------------------------------------------------------------- */

static bool
read_code(struct target *t, struct job *j, const struct map *m)
{
	uint64_t size = j->code.size == 0 ? CODE_UNKNOWN : j->code.size;

	if (size > CODE_MOST)
		size = CODE_MOST;
	size += BEHIND;
	if (size > m->hi - j->code.addr)
		size = m->hi - j->code.addr;
	j->bytes = malloc(size);
	if (j->bytes == NULL || !mem_read(t, j->code.addr, j->bytes, size))
		return (false);
	j->code.bytes = j->bytes;
	j->code.avail = size;
	return (true);
}

/* Names, as the binary has them, whose code is not entered by a call. */
static bool
name_odd(const char *name)
{
	const char *dot = name == NULL ? NULL : strstr(name, ".cold");

	for (; dot != NULL; dot = strstr(dot + 1, ".cold"))
		if (dot[5] == '\0' || dot[5] == '.')
			return (true);
	return (false);
}

/*
 * Why a function cannot be entered by a call, NULL: it can.  A part split off
 * a function, under another name or none, begins with more on the stack than
 * a return address, and the agent would take something else for that address.
 */
static const char *
why_not_called(const struct job *j, const struct cfi *cfi)
{
	if (j->spec == NULL)
		return (NULL);
	if (name_odd(j->spec->name))
		return ("it is the seldom used part of another function, and "
			"is not called");
	if (!cfi_is_called(cfi, j->code.addr))
		return ("it is not called but jumped to: a part of a function, "
			"or a place within one");
	return (NULL);
}

static bool
is_twice(const struct target *t, uint64_t addr)
{
	size_t i;

	for (i = 0; i < t->ntwice; i++)
		if (t->twice[i] == addr)
			return (true);
	return (false);
}

/* Why the returns of a function cannot be seen, NULL: they can. */
static const char *
why_open(const struct target *t, const struct job *j, const char *plan)
{
	if (t->small)
		return ("a Go program would not survive it: its runtime reads "
		    "its own stacks");
	if (t->scans != NULL)
		return (t->scans);
	if (t->blind)
		return ("it is a static program without symbols, so the way "
		    "of its exceptions is not known");
	if (j->code.addr == t->entry)
		return ("the program begins there: it has no caller");
	if (is_twice(t, j->code.addr))
		return ("it returns more than once, or to elsewhere");
	return (plan);
}

static bool
check_spec(struct target *t, const struct funcs *f, struct job *j)
{
	const struct probe_spec *s = j->spec;
	const struct probe *p;
	const char *why = NULL;

	if (s == NULL)
		return (true);
	if (s->fn >= FN_MOST)
		why = "its id is out of range (less than 4194304)";
	else if ((p = by_fn(t, s->fn)) != NULL && p->on)
		why = "its id is in use for another probe";
	else if (!program_ok(s->enter) || !program_ok(s->leave))
		why = "its capture program has a step that means nothing";
	if (why == NULL && (p = probe_at(t, f, s->addr)) != NULL &&
	    (p->on || !p->built))
		why = p->hidden ? "the tracer itself watches it" :
		    "it is watched already, under another name";
	if (why != NULL)
		refuse(j, why);
	return (why == NULL);
}

static bool
same_program(const struct capture *a, const struct capture *b)
{
	size_t n = program_len(a);

	return (n == program_len(b) && (n == 0 ||
	    memcmp(a, b, n * sizeof(*a)) == 0));
}

static bool
same_spec(const struct probe *p, const struct probe_spec *s)
{
	bool leave = (s->flags & TARGET_ENTRY_ONLY) == 0 && p->why_open == NULL;

	return (p->fn == s->fn && p->stub.leave == leave &&
		same_program(p->enter, s->enter) &&
		(!leave || same_program(p->leave, s->leave)));
}

/*
 * A probe that was there before, and is wanted as it was, gets its stub back:
 * who switches probes on and off all day must not use up the target's memory.
 */
static bool
plan_again(struct target *t, const struct funcs *f, struct job *j)
{
	struct probe *p =
	    j->back ? &t->probes[j->index] : probe_at(t, f, j->code.addr);
	const struct probe_spec *s = j->spec;
	uint8_t there[ARCH_MOVED];

	if (p == NULL || !p->built || p->hidden != (s == NULL) ||
	    (s != NULL && !same_spec(p, s)))
		return (false);
	/* or another library is there now */
	if (!mem_read(t, p->addr, there, p->plan.len) ||
	    memcmp(there, p->moved, p->plan.len) != 0)
		return (false);
	j->again = true;
	j->index = (uint32_t)(p - t->probes);
	j->result->ok = true;
	j->result->entry_only = p->why_open != NULL;
	if (p->why_open != NULL)
		(void)snprintf(j->result->why, TARGET_WHY, "%s", p->why_open);
	return (true);
}

static bool
plan(struct target *t, struct job *j, const struct maps *ms, struct cfi *cfi,
    struct arch_jumps *jumps)
{
	const struct map *m = maps_at(ms, j->code.addr);
	struct arch_plan pl;
	struct probe *p;
	const char *why, *open;
	bool ok;

	if (m == NULL || !m->exec || j->back) {
		refuse(j, "there is no code at its address");
		return (false);
	}
	if (m->special) {
		refuse(j, "it is the kernel's");
		return (false);
	}
	if (j->spec != NULL && cfi_find(cfi, t, ms, j->code.addr)) {
		j->code.frames = cfi->frames;
		j->code.nframes = cfi->nframes;
		if (j->code.size == 0)
			j->code.size = cfi->end - j->code.addr;
	}
	if ((why = why_not_called(j, cfi)) != NULL) {
		refuse(j, why);
		return (false);
	}
	if (!read_code(t, j, m)) {
		refuse(j, "its code cannot be read");
		return (false);
	}
	j->lo = m->lo;
	j->hi = m->hi;
	j->code.reentered = t->small;
	if (t->small && arch_is_goexit(&j->code)) {
		refuse(j, "goroutines return into its middle");
		return (false);
	}
	ok = arch_plan(&j->code, &pl, jumps);
	j->code.frames = NULL;
	j->code.nframes = 0;
	if (!ok) {
		refuse(j, pl.why_not);
		return (false);
	}
	if (!probe_new(t, &j->index)) {
		refuse(j, "there are too many probes");
		return (false);
	}
	p = &t->probes[j->index];
	p->plan = pl;
	p->func = j->code.addr;
	p->addr = j->code.addr + pl.at;
	memcpy(p->orig, j->bytes + pl.at, sizeof(p->orig));
	memcpy(p->moved, j->bytes + pl.at, pl.len);
	open = j->spec == NULL ? NULL : why_open(t, j, pl.why_open);
	p->why_open = open;
	p->flags = PROBE_ON | j->flags | (pl.walks ? PROBE_WALKS : 0);
	if (j->spec != NULL && (j->spec->flags & TARGET_ENTRY_ONLY) == 0 &&
	    open == NULL)
		p->flags |= PROBE_LEAVE;
	j->result->ok = true;
	j->result->entry_only = open != NULL;
	if (open != NULL)
		(void)snprintf(j->result->why, TARGET_WHY, "%s", open);
	return (true);
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y ? -1 : x > y);
}

/* Whether some function that has been read jumps to [lo, hi). */
static bool
is_hit(const struct arch_jumps *js, uint64_t lo, uint64_t hi)
{
	size_t from = 0, to = js->n, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (js->to[mid] < lo)
			from = mid + 1;
		else
			to = mid;
	}
	return (from < js->n && js->to[from] < hi);
}

static void
plan_all(struct target *t, struct job *jobs, size_t n)
{
	struct arch_jumps jumps = { NULL, 0, 0 };
	struct cfi cfi = {.base = 0};
	struct funcs funcs;
	struct maps ms;
	struct probe *p;
	size_t i;

	if (!maps_read(t->pid, &ms) || !funcs_make(t, &funcs, n)) {
		for (i = 0; i < n; i++)
			refuse(&jobs[i], "the process is gone");
		maps_free(&ms);
		return;
	}
	for (i = 0; i < n; i++)
		if (check_spec(t, &funcs, &jobs[i]) &&
		    !plan_again(t, &funcs, &jobs[i]) &&
		    plan(t, &jobs[i], &ms, &cfi, &jumps))
			*func_slot(t, &funcs, jobs[i].code.addr) =
			    jobs[i].index + 1;
	maps_free(&ms);
	cfi_free(&cfi);
	free(funcs.slots);
	if (jumps.n > 1)
		qsort(jumps.to, jumps.n, sizeof(*jumps.to), by_value);
	for (i = 0; i < n; i++) {
		if (!jobs[i].result->ok || jobs[i].again)
			continue;
		p = &t->probes[jobs[i].index];
		if (is_hit(&jumps, p->addr + 1, p->addr + p->plan.len))
			refuse(&jobs[i], "another function jumps into its "
			    "first bytes");
	}
	free(jumps.to);
}

/* --- what the agent is told ----------------------------------------------- */

static bool
chunk_ready(struct target *t, struct thread *th, uint32_t index)
{
	uint32_t n = index / AGENT_CHUNK;
	size_t len = (AGENT_CHUNK * sizeof(struct agent_probe) + PAGE - 1) &
	    ~(PAGE - 1);

	if (t->chunks[n] != 0)
		return (true);
	t->chunks[n] = remote_map(t, th, 0, len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return (t->chunks[n] != 0 && mem_write(t, t->agent + AGENT_CODE +
	    offsetof(struct agent_home, chunks) + n * sizeof(uint64_t),
	    &t->chunks[n], sizeof(uint64_t)));
}

static uint64_t
probe_addr(const struct target *t, uint32_t index)
{
	return (t->chunks[index / AGENT_CHUNK] +
	    index % AGENT_CHUNK * sizeof(struct agent_probe));
}

static uint64_t
program_put(struct target *t, struct thread *th, const struct capture *c)
{
	if (c == NULL)
		return (0);
	return (data_put(t, th, c, (program_len(c) + 1) * sizeof(*c)));
}

static uint32_t
budget_of(const struct job *j)
{
	return (
	    j->spec == NULL ? 0 : (j->spec->budget + WINDOWS - 1) / WINDOWS);
}

static bool
tell(struct target *t, struct thread *th, const struct job *j)
{
	struct probe *p = &t->probes[j->index];
	struct agent_probe a;

	memset(&a, 0, sizeof(a));
	a.resume = p->stub.resume;
	a.marker = p->stub.marker;
	a.fn = j->index;
	a.flags = p->flags;
	a.addr = p->addr;
	a.orig_len = ARCH_JUMP;
	memcpy(a.orig, p->orig, ARCH_JUMP);
	a.stride = 1;
	if (p->flags & PROBE_INNER) {
		a.least = inner_spec(p->inner)->least;
		a.many = inner_spec(p->inner)->many;
	}
	a.enter = program_put(t, th, p->enter);
	a.leave = program_put(t, th, p->leave);
	a.enter_size = program_size(p->enter);
	a.leave_size = program_size(p->leave);
	a.budget = budget_of(j);
	if ((p->enter != NULL && a.enter == 0) ||
	    (p->leave != NULL && a.leave == 0))
		return (false);
	return (stage_put(t, &t->stages[STAGE_PROBES],
	    probe_addr(t, j->index), &a, sizeof(a)));
}

/* Its memory is in use: by returns that are still to come. */
static void
tell_again(struct target *t, struct job *j)
{
	const struct probe *p = &t->probes[j->index];
	uint64_t at = probe_addr(t, j->index), none = 0;
	uint32_t budget = budget_of(j), len = ARCH_JUMP;

	if ((!p->hidden && !by_fn_set(t, p->fn, j->index)) ||
	    !mem_write(t, at + offsetof(struct agent_probe, budget), &budget,
		sizeof(budget)) ||
	    !mem_write(t, at + offsetof(struct agent_probe, orig_len), &len,
		sizeof(len)) ||
	    !mem_write(t, at + offsetof(struct agent_probe, skipped), &none,
		sizeof(none)) ||
	    !mem_write(t, at + offsetof(struct agent_probe, flags), &p->flags,
		sizeof(p->flags)))
		refuse(j, "its memory cannot be written");
}

/* Stores with the probe what the reader of its records checks them by. */
static void
told_set(struct probe *p)
{
	p->told = (struct ring_programs){ p->enter, p->leave,
		ring_shape_of(p->enter), ring_shape_of(p->leave),
		p->inner != INNER_NONE };
}

static bool
build(struct target *t, struct thread *th, struct job *j)
{
	struct probe *p = &t->probes[j->index];
	uint8_t code[ARCH_STUB];
	struct area *a;
	const char *why;
	size_t room, at;

	a = area_for(t, th, j->lo, j->hi, ARCH_STUB);
	if (a == NULL || !chunk_ready(t, th, j->index)) {
		refuse(j, "there is no room near its code for what it needs");
		return (false);
	}
	p->stub.area = a->addr;
	p->stub.addr = a->addr + a->used;
	p->stub.probe = j->index;
	p->stub.leave = (p->flags & PROBE_LEAVE) != 0;
	p->stub.small = t->small;
	why = arch_stub(&j->code, &p->plan, &p->stub, code);
	if (why != NULL) {
		refuse(j, why);
		return (false);
	}
	if (j->spec != NULL) {
		p->fn = j->spec->fn;
		p->enter = program_copy(j->spec->enter);
		p->leave = p->stub.leave ? program_copy(j->spec->leave) : NULL;
	} else {
		p->fn = UINT32_MAX;
		p->enter = j->inner == INNER_NONE
			       ? NULL
			       : program_copy(inner_spec(j->inner)->enter);
	}
	if (is_registers(p->enter))
		p->flags |= PROBE_ENTER_REGS;
	if (is_registers(p->leave))
		p->flags |= PROBE_LEAVE_REGS;
	p->inner = j->inner;
	p->hidden = j->spec == NULL;
	told_set(p);
	room = (p->stub.len + STUB_ALIGN - 1) & ~(STUB_ALIGN - 1);
	/* up to the next stub: both are written together */
	for (at = p->stub.len; at + ARCH_TRAP <= room; at += ARCH_TRAP)
		arch_trap(code + at);
	if (!stage_put(t, &t->stages[STAGE_STUBS], p->stub.addr, code, room) ||
	    !tell(t, th, j) ||
	    (j->spec != NULL && !by_fn_set(t, p->fn, j->index))) {
		refuse(j, "its memory cannot be written");
		return (false);
	}
	a->used += room;
	p->built = true;
	return (true);
}

/* --- writing code --------------------------------------------------------- */

struct edit {
	uint64_t addr;
	const uint8_t *was;	/* what must be there; NULL: the probe's jump */
	uint8_t	 bytes[ARCH_JUMP];
	bool	 done;
	struct job *job;	/* NULL: nobody wants to know */
	struct probe *probe;
};

static int
by_addr(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return (x->addr < y->addr ? -1 : x->addr > y->addr);
}

bool
probe_jumps(const struct probe *p, const uint8_t *at)
{
	uint8_t jump[ARCH_JUMP];

	arch_jump(p->addr, p->stub.addr, jump);
	return (memcmp(at, jump, ARCH_JUMP) == 0);
}

/* Whether there is at that place what the edit is for. */
static bool
is_there(const struct edit *e, const uint8_t *at)
{
	return (e->was == NULL ? probe_jumps(e->probe, at) :
	    memcmp(at, e->was, ARCH_JUMP) == 0);
}

/* Edits [0, n) lie in these pages. */
static void
write_run(struct target *t, uint64_t lo, uint64_t hi, struct edit *e, size_t n)
{
	uint8_t pages[(RUN + 1) * PAGE];
	size_t i;

	if (!mem_read(t, lo, pages, hi - lo))
		return;
	for (i = 0; i < n; i++) {
		uint8_t *at = pages + (e[i].addr - lo);

		e[i].done = is_there(&e[i], at);
		if (e[i].done)
			memcpy(at, e[i].bytes, ARCH_JUMP);
	}
	if (mem_write(t, lo, pages, hi - lo))
		return;
	for (i = 0; i < n; i++)
		e[i].done = false;
}

/* As few and as large writes as do not touch other pages. */
static void
write_all(struct target *t, struct edit *e, size_t n)
{
	uint64_t lo, hi, end;
	size_t i, from = 0;

	qsort(e, n, sizeof(*e), by_addr);
	while (from < n) {
		lo = e[from].addr & ~(PAGE - 1);
		hi = lo;
		for (i = from; i < n; i++) {
			end = (e[i].addr + ARCH_JUMP + PAGE - 1) &
			    ~(PAGE - 1);
			if (i > from && ((e[i].addr & ~(PAGE - 1)) > hi ||
			    end - lo > RUN * PAGE))
				break;
			if (end > hi)
				hi = end;
		}
		write_run(t, lo, hi, e + from, i - from);
		from = i;
	}
}

/* The edit among whose instructions pc stands, behind the first. */
static const struct edit *
edit_at(const struct edit *e, size_t n, uint64_t pc)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (e[i].done && pc > e[i].addr &&
		    pc < e[i].addr + e[i].probe->plan.len)
			return (&e[i]);
	return (NULL);
}

/* A thread that stands among instructions that have moved goes with them. */
static void
move_threads(struct target *t, const struct edit *e, size_t n)
{
	const struct edit *at;
	struct arch_regs r;
	struct thread *th;
	struct arch_code c;
	uint64_t pc;

	for (th = t->threads; th != NULL; th = th->next) {
		if (th->stop == STOP_NONE || th->midway || !regs_get(th, &r))
			continue;
		pc = arch_pc(&r);
		if ((at = edit_at(e, n, pc)) == NULL)
			continue;
		sequence_abort(t, th, &r);
		/* the abort handler may have moved as well */
		if (arch_pc(&r) != pc)
			at = edit_at(e, n, arch_pc(&r));
		if (at != NULL) {
			c.addr = at->probe->func;
			arch_set_pc(&r, arch_moved(&c, &at->probe->plan,
			    &at->probe->stub, arch_pc(&r)));
		}
		(void)regs_set(th, &r);
	}
}

static size_t
switch_on(struct target *t, struct job *jobs, size_t n)
{
	struct edit *e;
	size_t i, ne = 0, on = 0;
	uint64_t before;
	bool all;

	e = calloc(n, sizeof(*e));
	if (e == NULL)
		return (0);
	for (i = 0; i < n; i++) {
		struct probe *p;

		if (!jobs[i].result->ok)
			continue;
		p = &t->probes[jobs[i].index];
		e[ne].addr = p->addr;
		e[ne].was = p->orig;
		e[ne].job = &jobs[i];
		e[ne].probe = p;
		arch_jump(p->addr, p->stub.addr, e[ne++].bytes);
	}
	before = clock_ns();
	all = threads_stop(t);
	if (all) {
		write_all(t, e, ne);
		move_threads(t, e, ne);
	}
	threads_go(t);
	t->stop_ns = clock_ns() - before;
	for (i = 0; i < ne; i++) {
		e[i].probe->on = e[i].done;
		if (e[i].done)
			on++;
		else
			refuse(e[i].job, all ? "its code changes while it is "
			    "looked at" : "a thread of the process could not "
			    "be stopped");
	}
	free(e);
	return (on);
}

/* --- */

/*
 * Stops and returns a thread that can be used for system calls.  If there is
 * none, returns a filtered thread, which will do where no calls are needed.
 */
static struct thread *
helper(struct target *t)
{
	struct thread *th, *second = NULL;

	for (th = t->threads; th != NULL; th = th->next) {
		if (th->vfork || th->born || !thread_stop(t, th) ||
		    !thread_settle(t, th))
			continue;
		if (!thread_filtered(t, th))
			return (th);
		second = th;
	}
	return (second);
}

/*
 * All that the jumps are going to lead to must be there.  An area without its
 * head would send every call to address 0, so each one is read back.
 */
static void
flush(struct target *t, struct job *jobs, size_t n)
{
	uint64_t area = 0, ready = 0;
	bool ok = true;
	size_t i;

	for (i = 0; i < STAGES; i++)
		if (!stage_flush(t, &t->stages[i]))
			ok = false;
	for (i = 0; i < n; i++) {
		if (!jobs[i].result->ok)
			continue;
		area = t->probes[jobs[i].index].stub.area;
		if (ok && area != ready && area_ready(t, area, t->agent))
			ready = area;
		if (!ok || area != ready)
			refuse(&jobs[i], "the memory of the process cannot be "
			    "written");
	}
}

/* Stubs leave the shadow stack as it is, so the next return is a fault. */
static bool
refuse_shadowed(const struct target *t, struct job *jobs, size_t n)
{
	size_t i;

	if (!threads_shadowed(t))
		return (false);
	for (i = 0; i < n; i++)
		refuse(&jobs[i], "its process has a shadow stack (CET), which "
		    "tracing would break; start the program with "
		    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK");
	return (true);
}

static size_t
install(struct target *t, struct job *jobs, size_t n)
{
	struct thread *th;
	size_t i, on = 0;

	if (refuse_shadowed(t, jobs, n))
		return (0);
	plan_all(t, jobs, n);
	th = helper(t);
	for (i = 0; i < n; i++) {
		if (!jobs[i].result->ok)
			continue;
		if (th == NULL || th->dead)
			refuse(&jobs[i], "no thread of the process can be "
			    "stopped");
		else if (jobs[i].again)
			tell_again(t, &jobs[i]);
		else
			(void)build(t, th, &jobs[i]);
	}
	flush(t, jobs, n);
	if (th != NULL) {
		areas_note(t);
		(void)mem_write(t, t->agent + AGENT_CODE +
		    offsetof(struct agent_home, nprobes), &t->nprobes,
		    sizeof(t->nprobes));
		/* it need not stand while the others are stopped */
		thread_back(th);
		on = switch_on(t, jobs, n);
	}
	for (i = 0; i < n; i++)
		free(jobs[i].bytes);
	return (on);
}

static void
edit_back(struct edit *e, struct probe *p)
{
	memset(e, 0, sizeof(*e));
	e->addr = p->addr;
	memcpy(e->bytes, p->orig, ARCH_JUMP);
	e->probe = p;
}

static void
mute(struct target *t, uint32_t index)
{
	uint32_t flags = 0;

	(void)mem_write(t,
	    probe_addr(t, index) + offsetof(struct agent_probe, flags), &flags,
	    sizeof(flags));
	(void)mem_write(t,
	    probe_addr(t, index) + offsetof(struct agent_probe, orig_len),
	    &flags, sizeof(flags));
}

static bool
is_on(const struct target *t, uint64_t func)
{
	uint32_t i;

	for (i = 0; i < t->nprobes; i++)
		if (t->probes[i].on && t->probes[i].func == func)
			return (true);
	return (false);
}

bool
hook_add(struct target *t, uint64_t addr, uint64_t size, uint32_t flags,
    uint8_t inner)
{
	struct probe_result r;
	struct job j;

	/* a followed child has its parent's */
	if (is_on(t, addr))
		return (true);
	memset(&j, 0, sizeof(j));
	memset(&r, 0, sizeof(r));
	j.code.addr = addr;
	j.code.size = size;
	j.flags = flags;
	j.inner = inner;
	j.result = &r;
	return (install(t, &j, 1) == 1);
}

/* --- where somebody watches what the engine watches as well --------------- */

static bool
yields(const struct probe *p)
{
	return (p->hidden && p->built &&
	    (p->inner != INNER_NONE || (p->flags & PROBE_WALKS) != 0));
}

static void
jobs_look(struct job *jobs, size_t n, const struct probe *p, bool *wanted)
{
	size_t i;

	*wanted = false;
	for (i = 0; i < n; i++)
		if (jobs[i].code.addr == p->func) {
			jobs[i].inner = p->inner;
			*wanted = true;
		}
}

/* The engine's own give way: what the others capture will have to do. */
static void
own_yield(struct target *t, struct job *jobs, size_t n)
{
	struct edit *e;
	size_t ne = 0, k;
	uint32_t i;
	bool wanted;

	e = calloc(n, sizeof(*e));
	for (i = 0; e != NULL && i < t->nprobes && ne < n; i++) {
		if (!yields(&t->probes[i]))
			continue;
		jobs_look(jobs, n, &t->probes[i], &wanted);
		if (wanted && t->probes[i].on)
			edit_back(&e[ne++], &t->probes[i]);
	}
	if (ne > 0) {
		if (threads_stop(t))
			write_all(t, e, ne);
		threads_go(t);
	}
	for (k = 0; k < ne; k++)
		if (e[k].done) {
			e[k].probe->on = false;
			mute(t, (uint32_t)(e[k].probe - t->probes));
		}
	free(e);
}

/* Sets the engine's own probes again where no other probe is left. */
static void
own_back(struct target *t)
{
	struct probe_result r;
	uint64_t stop_ns = t->stop_ns;
	struct job j;
	uint32_t i;

	for (i = 0; i < t->nprobes; i++) {
		if (!yields(&t->probes[i]) || is_on(t, t->probes[i].func))
			continue;
		memset(&j, 0, sizeof(j));
		memset(&r, 0, sizeof(r));
		j.code.addr = t->probes[i].func;
		j.index = i;
		j.inner = t->probes[i].inner;
		j.back = true;
		j.result = &r;
		(void)install(t, &j, 1);
	}
	t->stop_ns = stop_ns;
}

size_t
probes_set(struct target *t, const struct probe_spec *specs, size_t n,
    struct probe_result *results)
{
	struct job *jobs = calloc(n + 1, sizeof(*jobs));
	size_t i, on;

	if (jobs == NULL) {
		for (i = 0; i < n; i++)
			(void)snprintf(results[i].why, TARGET_WHY,
			    "the process is gone");
		return (0);
	}
	for (i = 0; i < n; i++) {
		jobs[i].code.addr = specs[i].addr;
		jobs[i].code.size = specs[i].size;
		jobs[i].spec = &specs[i];
		jobs[i].result = &results[i];
	}
	own_yield(t, jobs, n);
	on = install(t, jobs, n);
	free(jobs);
	own_back(t);
	return (on);
}

/* --- off ------------------------------------------------------------------ */

/* Another library, or nothing, where its function was. */
static bool
is_gone(const struct target *t, const struct edit *e)
{
	uint8_t now[ARCH_JUMP];

	return (!mem_read(t, e->addr, now, sizeof(now)) || !is_there(e, now));
}

size_t
target_unprobe(struct target *t, const uint32_t *fns, size_t n)
{
	struct edit *e;
	struct probe *p;
	size_t i, ne = 0, gone = 0;
	uint64_t before;

	e = calloc(n + 1, sizeof(*e));
	if (e == NULL)
		return (0);
	for (i = 0; i < n; i++) {
		p = by_fn(t, fns[i]);
		if (p == NULL || !p->on)
			continue;
		edit_back(&e[ne++], p);
	}
	before = clock_ns();
	/* a jump gives way to what it lies over: nobody stands between */
	if (t->alive && ne > 0) {
		if (threads_stop(t))
			write_all(t, e, ne);
		threads_go(t);
	}
	t->stop_ns = clock_ns() - before;
	for (i = 0; i < ne; i++) {
		/* named twice it is gone once */
		if ((!e[i].done && t->alive && !is_gone(t, &e[i])) ||
		    !e[i].probe->on)
			continue;
		e[i].probe->on = false;
		mute(t, (uint32_t)(e[i].probe - t->probes));
		gone++;
	}
	free(e);
	if (t->alive && gone > 0)
		own_back(t);
	return (gone);
}

void
hooks_lost(struct target *t)
{
	struct edit e;
	uint32_t i;

	for (i = 0; i < t->nprobes; i++) {
		if (!t->probes[i].hidden || !t->probes[i].on)
			continue;
		edit_back(&e, &t->probes[i]);
		if (!is_gone(t, &e))
			continue;
		t->probes[i].on = false;
		mute(t, i);
	}
}

void
code_restore(struct target *t)
{
	struct edit *e;
	size_t ne = 0;
	uint32_t i;

	e = calloc(t->nprobes + 1UL, sizeof(*e));
	for (i = 0; e != NULL && i < t->nprobes; i++)
		if (t->probes[i].on)
			edit_back(&e[ne++], &t->probes[i]);
	if (e != NULL)
		write_all(t, e, ne);
	for (i = 0; i < t->nprobes; i++)
		if (t->probes[i].on)
			mute(t, i);
	free(e);
}

bool
target_has(const struct target *t, uint32_t fn)
{
	const struct probe *p = by_fn(t, fn);

	return (p != NULL && p->on);
}

uint64_t
target_skipped(struct target *t, uint32_t fn)
{
	struct probe *p = by_fn(t, fn);
	uint64_t n = 0;

	if (p == NULL || !mem_read(t, probe_addr(t, (uint32_t)(p -
	    t->probes)) + offsetof(struct agent_probe, skipped), &n,
	    sizeof(n)))
		return (0);
	return (n);
}

void
skipped_forget(struct target *t)
{
	struct agent_probe p[AGENT_CHUNK];
	const uint64_t none = 0;
	uint32_t c, i;

	for (c = 0; c * AGENT_CHUNK < t->nprobes; c++) {
		if (t->chunks[c] == 0 ||
		    !mem_read(t, t->chunks[c], p, sizeof(p)))
			continue;
		for (i = 0; i < AGENT_CHUNK; i++)
			if (p[i].skipped != 0)
				(void)mem_write(t, probe_addr(t,
				    c * AGENT_CHUNK + i) + offsetof(
				    struct agent_probe, skipped), &none,
				    sizeof(none));
	}
}

uint64_t
target_stop_ns(const struct target *t)
{
	return (t->stop_ns);
}

/* --- stacks --------------------------------------------------------------- */

/* The open calls of a slot, malloc'ed; what the target says, checked only as
 * far as that it cannot hurt anybody else. */
static struct agent_frame *
frames_read(struct target *t, int slot, uint32_t *n)
{
	uint64_t state = t->slots[slot].state;
	struct agent_frame *f;
	uint32_t depth;

	*n = 0;
	if (!mem_read(t, state + offsetof(struct agent_state, depth), &depth,
	    sizeof(depth)) || depth == 0 || depth > AGENT_FRAMES + AGENT_SPARE)
		return (NULL);
	f = calloc(depth, sizeof(*f));
	if (f == NULL || !mem_read(t, state + offsetof(struct agent_state,
	    frames), f, depth * sizeof(*f))) {
		free(f);
		return (NULL);
	}
	*n = depth;
	return (f);
}

static uint64_t
marker_of(const struct target *t, uint32_t index)
{
	return (index < t->nprobes ? t->probes[index].stub.marker : 0);
}

static void
stack_restore(struct target *t, int slot)
{
	struct agent_frame *f;
	uint64_t there, dead = FRAME_DEAD;
	uint32_t i, n;

	f = frames_read(t, slot, &n);
	for (i = n; i > 0; i--) {
		struct agent_frame *fr = &f[i - 1];

		if (fr->slot <= FRAME_DEAD || fr->restored ||
		    !mem_read(t, fr->slot, &there, sizeof(there)) ||
		    there == 0 || there != marker_of(t, fr->probe))
			continue;
		if (!mem_write(t, fr->slot, &fr->ra, sizeof(fr->ra)))
			continue;
		(void)mem_write(t, t->slots[slot].state +
		    offsetof(struct agent_state, frames) +
		    (i - 1) * sizeof(*fr) + offsetof(struct agent_frame,
		    slot), &dead, sizeof(dead));
	}
	free(f);
}

void
stacks_restore(struct target *t)
{
	uint32_t i;

	for (i = 0; i < t->nslots; i++)
		if (t->slots[i].tid != 0 && !t->slots[i].gone)
			stack_restore(t, (int)i);
}

/* Within a stub: the instruction that has moved there. */
static uint64_t
moved_from(const struct probe *p, uint64_t addr)
{
	uint64_t off = addr - p->stub.addr;
	uint32_t n, best = 0;

	if (p->stub.resume == 0 || addr < p->stub.resume)
		return (addr);
	for (n = 0; n <= p->plan.ninsns; n++)
		if (p->plan.insns[n].to <= off)
			best = n;
	return (p->addr + p->plan.insns[best].from);
}

uint64_t
code_translate(const struct target *t, uint64_t addr)
{
	const struct area *a;
	uint32_t i;

	for (a = t->areas; a != NULL; a = a->next)
		if (addr >= a->addr && addr < a->addr + a->used)
			break;
	for (i = 0; a != NULL && i < t->nprobes; i++)
		if (addr >= t->probes[i].stub.addr &&
		    addr < t->probes[i].stub.addr + t->probes[i].stub.len)
			return (moved_from(&t->probes[i], addr));
	return (addr);
}

void
stack_translate(struct target *t, int slot, uint64_t sp, uint64_t *words,
    size_t nwords)
{
	struct agent_frame *f;
	uint64_t at;
	uint32_t i, n;

	for (at = 0; at < nwords; at++)
		words[at] = code_translate(t, words[at]);
	if (slot < 0)
		return;
	f = frames_read(t, slot, &n);
	for (i = n; i > 0; i--) {
		at = (f[i - 1].slot - sp) / sizeof(*words);
		if (f[i - 1].slot >= sp && at < nwords &&
		    words[at] != 0 &&
		    words[at] == marker_of(t, f[i - 1].probe))
			words[at] = code_translate(t, f[i - 1].ra);
	}
	free(f);
}

/* --- */

void
probes_forget(struct target *t)
{
	struct area *a;
	uint32_t i;

	for (i = 0; i < t->nprobes; i++) {
		free(t->probes[i].enter);
		free(t->probes[i].leave);
	}
	free(t->probes);
	free(t->by_fn);
	t->probes = NULL;
	t->by_fn = NULL;
	t->nprobes = t->room = t->nby_fn = 0;
	memset(t->chunks, 0, sizeof(t->chunks));
	while ((a = t->areas) != NULL) {
		t->areas = a->next;
		free(a);
	}
	t->data = t->data_left = 0;
	stages_free(t);
}

static bool
areas_copy(struct target *t, const struct target *from)
{
	const struct area *a;
	struct area *b;

	for (a = from->areas; a != NULL; a = a->next) {
		b = malloc(sizeof(*b));
		if (b == NULL)
			return (false);
		*b = *a;
		b->next = t->areas;
		t->areas = b;
	}
	t->data = from->data;
	t->data_left = from->data_left;
	return (true);
}

/* A forked child has the same code and the same stubs. */
bool
probes_copy(struct target *t, const struct target *from)
{
	uint32_t i;

	t->probes = calloc(from->nprobes + 1UL, sizeof(*t->probes));
	t->by_fn = calloc(from->nby_fn + 1UL, sizeof(*t->by_fn));
	if (t->probes == NULL || t->by_fn == NULL || !areas_copy(t, from))
		return (false);
	/* NULL if it has none */
	if (from->nby_fn > 0)
		memcpy(t->by_fn, from->by_fn,
		    from->nby_fn * sizeof(*t->by_fn));
	memcpy(t->chunks, from->chunks, sizeof(t->chunks));
	t->nby_fn = from->nby_fn;
	t->nprobes = t->room = from->nprobes;
	for (i = 0; i < from->nprobes; i++) {
		t->probes[i] = from->probes[i];
		t->probes[i].enter = program_copy(from->probes[i].enter);
		t->probes[i].leave = program_copy(from->probes[i].leave);
		told_set(&t->probes[i]);
	}
	return (true);
}
