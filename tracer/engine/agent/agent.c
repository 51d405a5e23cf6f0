/* SPDX-License-Identifier: ISC */
/*
 * The agent: runs inside the target, in the place of a function's first bytes
 * and of its return.
 *
 * It has no libc, no data but what the engine has mapped for it, changes no
 * vector or x87 register, makes no system call (a filter of the target would
 * kill it for one), takes no lock and never waits.  A signal may interrupt it
 * anywhere, and the handler may come by here again: what one thread shares
 * with itself is reserved by one instruction before it is filled in.
 */
#include <stdbool.h>

#include "../../../common/wire/capture.h"
#include "agent.h"

#define WORD		8
#define SLACK		1024	/* words of a ring for handlers that come between */
#define EXIT_ROOM	6	/* words kept for the exit of each open call */
#define LOWEST		0x10000UL	/* below it nothing is ever mapped */
#define ADDRESS_BITS	56		/* of a program's half: five levels of
					 * page tables, where there are */
#define RECHECK		16	/* skipped calls between looks at the clock */
#define ARG_FIRST 5             /* rdi */

struct regs {
	uint64_t r[16];
	uint64_t flags;
};

extern struct agent_home agent_home
    __attribute__((visibility("hidden")));
extern volatile struct agent_live agent_live
    __attribute__((visibility("hidden")));
extern volatile struct agent_control agent_control
    __attribute__((visibility("hidden")));

uint64_t agent_enter(struct regs *, uint32_t);
uint64_t agent_enter_open(struct regs *, uint32_t);
uint64_t agent_leave(struct regs *, uint32_t);

/* --- what the processor says --------------------------------------------- */

static inline uint64_t
clock_now(const struct agent_state *st)
{
	uint32_t lo, hi;

	if (__builtin_expect(st->no_tsc, 0))
		return (agent_control.coarse_tsc);
	__asm__ volatile("1: rdtsc\n2:\n"
	    ".pushsection .fixups,\"a\"\n.long 1b, 2b, 1\n.popsection"
	    : "=a"(lo), "=d"(hi));
	return ((uint64_t)hi << 32 | lo);
}

/* False in a forked child, and when nobody is there to read or mend. */
static inline bool
recording(void)
{
	uint32_t owner = agent_control.owner;

	return (agent_live.live != 0 && owner != 0 &&
	    (owner & AGENT_OWNER_DIED) == 0);
}

#ifdef __FSGSBASE__
#define READ_BASE(segment, v)						\
	__asm__ volatile("rd" segment "base %0" : "=r"(v))
#else
/*
 * Without the instructions that read a base, the first word behind it tells:
 * a state begins with its own address, and so does what %fs points to in
 * programs of glibc and musl.  0: nothing is mapped there.
 */
#define READ_BASE(segment, v)						\
	__asm__ volatile("xorl %k0, %k0\n1:\tmovq %%" segment ":0, %0\n2:\n" \
	    ".pushsection .fixups,\"a\"\n.long 1b, 2b, 0\n.popsection"	\
	    : "=&r"(v) : : "cc")
#endif

/*
 * The state of this thread, NULL if the engine has not given it one.  Unless
 * may_fault is set, the thread has one, and nobody may be there to mend.
 */
static inline struct agent_state *
state_get(bool may_fault)
{
	struct agent_state *st;
	uint64_t fs;

	READ_BASE("gs", st);
	if (st == NULL || st->self != (uint64_t)st)
		return (NULL);
#ifndef __FSGSBASE__
	if (!may_fault)
		return (st);
#else
	(void)may_fault;
#endif
	/* a thread that nobody has seen being born has its maker's %gs */
	READ_BASE("fs", fs);
	if (__builtin_expect(st->fs != fs, 0)) {
		if (st->fs != 0)
			return (NULL);
		st->fs = fs;
	}
	return (st);
}

/* The engine looks at what is loaded; this thread waits for it. */
static inline void
look_at_objects(void)
{
	__asm__ volatile("int3\n1:\n"
	    ".pushsection .fixups,\"a\"\n.long 1b, 1b, 2\n.popsection");
}

/* --- memory that may not be there ---------------------------------------- */

static inline bool
sane(uint64_t addr)
{
	return (addr - LOWEST < (1UL << ADDRESS_BITS) - 2 * LOWEST);
}

#define SAFE_LOAD(name, insn, constraint)				\
static inline bool							\
name(uint64_t addr, uint64_t *v)					\
{									\
	uint32_t bad = 1;						\
									\
	*v = 0;								\
	__asm__ volatile("1: " insn "\n\txorl %0, %0\n2:\n"		\
	    ".pushsection .fixups,\"a\"\n.long 1b, 2b, 0\n.popsection"	\
	    : "+r"(bad), "+r"(*v) : "r"(addr) : "cc", "memory");	\
	return (bad == 0);						\
}
SAFE_LOAD(load_word, "movq (%2), %1", "r")
SAFE_LOAD(load_byte, "movzbl (%2), %k1", "r")

static inline bool
store_word(uint64_t addr, uint64_t v)
{
	uint32_t bad = 1;

	__asm__ volatile("1: movq %1, (%2)\n\txorl %0, %0\n2:\n"
	    ".pushsection .fixups,\"a\"\n.long 1b, 2b, 0\n.popsection"
	    : "+r"(bad) : "r"(v), "r"(addr) : "cc", "memory");
	return (bad == 0);
}

/* n 1..8 bytes, without touching the page behind them. */
static inline bool
load(uint64_t addr, uint32_t n, uint64_t *v)
{
	uint64_t byte;
	uint32_t i;

	if (n == WORD)
		return (load_word(addr, v));
	*v = 0;
	for (i = 0; i < n; i++) {
		if (!load_byte(addr + i, &byte))
			return (false);
		*v |= byte << (8 * i);
	}
	return (true);
}

#define ONES	0x0101010101010101UL
#define HIGHS	0x8080808080808080UL

/*
 * Bytes before the first NUL, at most `most`.  Aligned words lie in one page
 * each, so only bytes of a page that has some of the string are touched.
 */
static bool
length(uint64_t addr, uint32_t most, uint32_t *len)
{
	uint64_t word, zero, skip;
	uint32_t n = 0;

	*len = 0;
	if (!sane(addr))
		return (false);
	skip = addr & 7;
	while (n < most) {
		if (!load_word(addr + n - skip, &word))
			return (false);
		word >>= 8 * skip;
		if (skip != 0)
			word |= ~0UL << (64 - 8 * skip);
		zero = (word - ONES) & ~word & HIGHS;
		if (zero != 0) {
			n += (uint32_t)__builtin_ctzl(zero) / 8;
			break;
		}
		n += (uint32_t)(WORD - skip);
		skip = 0;
	}
	*len = n < most ? n : most;
	return (true);
}

/* --- rings ---------------------------------------------------------------- */

struct out {
	uint64_t ring, mask;
	uint64_t at;	/* bytes ever written, a multiple of 4 */
	uint64_t left;	/* bytes of the record */
};

static inline void
put4(const struct out *o, uint64_t at, uint32_t v)
{
	*(volatile uint32_t *)(o->ring + (at & o->mask)) = v;
}

static inline void
put8(const struct out *o, uint64_t at, uint64_t v)
{
	*(volatile uint64_t *)(o->ring + (at & o->mask)) = v;
}

/* Two that the end of the ring is not between, at any multiple of 4. */
static inline void
store_pair(uint64_t addr, uint32_t first, uint64_t second)
{
	uint64_t both = second << 32 | first;

	__builtin_memcpy((void *)addr, &both, sizeof(both));
}

/*
 * Reserves a record, and room for the exits of all that is open, so that what
 * has been entered can be left.  False: it does not fit.
 */
static inline bool
reserve(struct agent_state *st, uint64_t words, uint64_t kept, uint64_t *at)
{
	volatile struct agent_slot *sh = (void *)st->shared;
	uint64_t size = (st->mask + 1) / WORD, n = words;

	if (st->head - sh->tail + words + kept + SLACK > size)
		return (false);
	__asm__ volatile("xaddq %0, %1" : "+r"(n), "+m"(st->head) : : "cc");
	*at = n;
	sh->head = n + words;
	/* a handler that came between has used up even the slack */
	return (n - sh->tail + words <= size);
}

static inline uint64_t
record_words(bool whole, uint32_t n)
{
	uint64_t head = whole ? sizeof(struct agent_record) :
	    sizeof(struct agent_brief);

	return ((head + n + WORD - 1) / WORD);
}

static inline uint32_t
what_of(uint32_t fn, uint32_t kind, uint32_t flags, uint64_t brief_words)
{
	return (fn | kind << WHAT_KIND | flags << WHAT_FLAGS |
	    (uint32_t)brief_words << WHAT_WORDS);
}

/* Where captures go. */
static inline void
out_begin(struct out *o, const struct agent_state *st, uint64_t at, bool whole,
    uint32_t n)
{
	o->ring = st->ring;
	o->mask = st->mask;
	o->at = at * WORD + (whole ? sizeof(struct agent_record) :
	    sizeof(struct agent_brief));
	o->left = n;
}

static inline void
put_whole(const struct out *o, uint64_t at, uint64_t words, uint64_t tsc,
    uint64_t link, uint64_t start)
{
	at *= WORD;
	put4(o, at + offsetof(struct agent_record, words), (uint32_t)words);
	put8(o, at + offsetof(struct agent_record, tsc), tsc);
	put8(o, at + offsetof(struct agent_record, link), link);
	put8(o, at + offsetof(struct agent_record, start), start);
}

static inline void
commit(const struct out *o, uint64_t at, uint64_t tsc, uint32_t what)
{
	put4(o, at * WORD + offsetof(struct agent_brief, what), what);
	__asm__ volatile("" : : : "memory");
	put8(o, at * WORD, tsc << 32 | (uint32_t)RECORD_ID(at));
}

/* --- captures ------------------------------------------------------------- */

struct piece {
	uint64_t src;	/* address, unless `value` */
	uint64_t n;	/* CAP_SLICE: elements */
	uint32_t len;	/* bytes to copy */
	uint16_t status;
	bool	 slice;
};

static inline void
string_at(struct piece *p, uint64_t addr, uint32_t most)
{
	p->src = addr;
	if (!length(addr, most, &p->len))
		p->status = CAP_FAULT;
	else if (p->len == most)
		p->status = CAP_CUT;
}

static inline void
string_by(struct piece *p, uint64_t addr, uint32_t most)
{
	uint64_t s;

	if (!sane(addr) || !load_word(addr, &s))
		p->status = CAP_FAULT;
	else
		string_at(p, s, most);
}

static inline void
slice_of(struct piece *p, const struct capture *c, uint64_t addr, uint64_t n)
{
	uint64_t most = c->scale == 0 ? 0 : c->len / c->scale;

	p->slice = true;
	p->src = addr;
	p->n = n;
	if (n > most) {
		n = most;
		p->status = CAP_CUT;
	}
	p->len = (uint32_t)(n * c->scale);
	if (p->len != 0 && !sane(addr))
		p->status = CAP_FAULT;
}

static inline void
slice_by(struct piece *p, const struct capture *c, uint64_t base)
{
	uint64_t addr, n, a = base + (uint64_t)(int64_t)c->off,
	    b = base + (uint64_t)(int64_t)c->off2;

	if (!sane(a) || !sane(b) || !load_word(a, &addr) || !load_word(b, &n))
		p->status = CAP_FAULT;
	else
		slice_of(p, c, addr, n);
}

static inline void
slice_mixed(struct piece *p, const struct capture *c, uint64_t addr,
    uint64_t at)
{
	uint64_t n;

	if (!sane(at) || !load_word(at, &n))
		p->status = CAP_FAULT;
	else
		slice_of(p, c, addr, n);
}

/* Finds what a step is about to copy; registers and vectors need no check. */
static void
piece_find(struct piece *p, const struct capture *c, const struct regs *f)
{
	uint64_t base = f->r[c->reg & 15],
	    addr = base + (uint64_t)(int64_t)c->off,
	    stack = f->r[7] + (uint64_t)(int64_t)c->off;

	p->src = p->n = 0;
	p->len = c->len;
	p->status = CAP_OK;
	p->slice = false;
	if (c->op == CAP_REG)
		p->src = (uint64_t)&f->r[c->reg & 15];
	else if (c->op == CAP_STACK)
		p->src = stack;
	else if (c->op == CAP_MEM)
		p->src = addr;
	else if (c->op == CAP_STRING)
		string_at(p, addr, c->len);
	else if (c->op == CAP_STRPTR)
		string_by(p, addr, c->len);
	else if (c->op == CAP_STKSTR)
		string_by(p, stack, c->len);
	else if (c->op == CAP_SLICE)
		slice_by(p, c, base);
	else if (c->op == CAP_REGSLICE)
		slice_of(p, c, base, f->r[c->off & 15]);
	else if (c->op == CAP_STKSLICE)
		slice_by(p, c, f->r[7]);
	else if (c->op == CAP_MIXSLICE)
		slice_mixed(p, c, base, f->r[7] + (uint64_t)(int64_t)c->off2);
	if (p->status != CAP_FAULT && c->op != CAP_VEC && c->op != CAP_REG &&
	    c->op != CAP_X87 &&
	    p->len != 0 && !sane(p->src))
		p->status = CAP_FAULT;
	if (p->status == CAP_FAULT) {
		p->len = 0;
		p->slice = false;
	}
}

static inline uint32_t
piece_size(const struct piece *p)
{
	uint32_t len = p->len + (p->slice ? 8 : 0);

	return (4 + ((len + 3) & ~3U));
}

#define VEC(n) case n:							\
	__asm__ volatile("movq %%xmm" #n ", %0\n\t"			\
	    "movhps %%xmm" #n ", %1" : "=r"(v[0]), "=m"(v[1]));		\
	break

static void
vector_get(uint32_t n, uint64_t v[2])
{
	switch (n) {
	VEC(0); VEC(1); VEC(2); VEC(3); VEC(4); VEC(5); VEC(6); VEC(7);
	VEC(8); VEC(9); VEC(10); VEC(11); VEC(12); VEC(13); VEC(14); VEC(15);
	}
}

/*
 * Taken off and put back, which changes nothing.  Not if it is empty, as that
 * would be noted, nor while an exception is pending, which the next
 * instruction but these two would raise.
 */
static bool
x87_get(uint64_t v[2])
{
	uint16_t status;

	__asm__ volatile("fnstsw %0" : "=a"(status));
	if ((status & 0x80) != 0)
		return (false);
	__asm__ volatile("fxam\n\tfnstsw %0" : "=a"(status));
	/* C3 and C0, but not C2 */
	if ((status & 0x4500) == 0x4100)
		return (false);
	__asm__ volatile("fstpt %0\n\tfldt %0" : "+m"(*(uint64_t (*)[2])v));
	return (true);
}

/* False: the memory has gone, or was never there. */
static inline bool
copy(struct out *o, uint64_t at, uint64_t src, uint32_t len)
{
	uint64_t v;
	uint32_t n;

	for (; len > 0; len -= n, src += n, at += n) {
		n = len < WORD ? len : WORD;
		if (!load(src, n, &v))
			return (false);
		put4(o, at, (uint32_t)v);
		if (n > 4)
			put4(o, at + 4, (uint32_t)(v >> 32));
	}
	return (true);
}

static void
piece_put(struct out *o, struct piece *p, const struct capture *c)
{
	uint64_t vec[2] = { 0, 0 }, at = o->at + 4;

	if (piece_size(p) > o->left) {
		/* a string may have grown, what follows it must not be lost */
		p->len = 0;
		p->slice = false;
		p->status = CAP_CUT;
		if (o->left < 4)
			return;
	}
	if (p->slice) {
		put4(o, at, (uint32_t)p->n);
		put4(o, at + 4, (uint32_t)(p->n >> 32));
		at += 8;
	}
	if (c->op == CAP_VEC && p->len != 0) {
		vector_get(c->reg, vec);
		p->src = (uint64_t)vec;
	} else if (c->op == CAP_X87 && p->len != 0) {
		p->src = (uint64_t)vec;
		if (!x87_get(vec)) {
			p->status = CAP_FAULT;
			p->len = 0;
		}
	}
	if (!copy(o, at, p->src, p->len)) {
		p->status = CAP_FAULT;
		p->len = 0;
		p->slice = false;
	}
	put4(o, o->at, (uint32_t)(p->len + (p->slice ? 8 : 0)) << 16 |
	    p->status);
	o->left -= piece_size(p);
	o->at += piece_size(p);
}

static inline const struct capture *
program(uint64_t addr)
{
	return ((const struct capture *)addr);
}

/* Bytes that the program is going to need, at most CAPTURE_BYTES_MAX. */
static uint32_t
measure(const struct capture *c, const struct regs *f)
{
	struct piece p;
	uint32_t n = 0, i;

	for (i = 0; i < CAPTURE_MAX && c[i].op != CAP_END; i++) {
		piece_find(&p, &c[i], f);
		if (n + piece_size(&p) > CAPTURE_BYTES_MAX)
			n += 4;
		else
			n += piece_size(&p);
	}
	return (n);
}

/* Most arguments and results are of this kind.  False: this one is not. */
static inline bool
put_register(struct out *o, const struct capture *c, const struct regs *f)
{
	uint32_t len = c->len, size = 4 + ((len + 3) & ~3U);
	uint64_t v, to = o->at & o->mask;

	if (c->op != CAP_REG || len - 1 >= WORD || o->left < size)
		return (false);
	v = f->r[c->reg & 15] & ~0UL >> (8 * (WORD - len));
	if (to + WORD <= o->mask) {
		store_pair(o->ring + to, len << 16 | CAP_OK, v);
	} else {
		put4(o, o->at, len << 16 | CAP_OK);
		put4(o, o->at + 4, (uint32_t)v);
	}
	if (len > 4)
		put4(o, o->at + 8, (uint32_t)(v >> 32));
	o->at += size;
	o->left -= size;
	return (true);
}

static void
capture(struct agent_state *st, struct out *o, const struct capture *c,
    const struct regs *f)
{
	volatile struct agent_slot *sh = (void *)st->shared;
	struct piece p;
	uint32_t i;

	for (i = 0; i < CAPTURE_MAX && c[i].op != CAP_END; i++) {
		if (put_register(o, &c[i], f))
			continue;
		piece_find(&p, &c[i], f);
		piece_put(o, &p, &c[i]);
		if (p.status == CAP_FAULT)
			sh->faults++;
	}
}

/*
 * The same of nothing but registers, which is what most functions have, in a
 * record that does not lie over the end of the ring.  False: it does.
 */
static inline bool
capture_registers(const struct out *o, const struct capture *c,
    const struct regs *f)
{
	uint64_t to = o->at & o->mask, end = to + o->left, v;
	uint32_t len;

	if (end > o->mask)
		return (false);
	for (; to < end; c++) {
		v = f->r[c->reg & 15];
		len = c->len;
		if (len == WORD) {
			store_pair(o->ring + to, len << 16 | CAP_OK, v);
			*(volatile uint32_t *)(o->ring + to + 8) =
			    (uint32_t)(v >> 32);
			to += 4 + WORD;
			continue;
		}
		v &= ~0UL >> (8 * (WORD - len));
		store_pair(o->ring + to, len << 16 | CAP_OK, v);
		to += WORD;
		if (len > 4) {
			*(volatile uint32_t *)(o->ring + to) =
			    (uint32_t)(v >> 32);
			to += 4;
		}
	}
	return (true);
}

static inline uint32_t
captured_bytes(uint64_t prog, uint32_t fixed, const struct regs *f)
{
	if (prog == 0)
		return (0);
	return (fixed != PROBE_VARIES ? fixed : measure(program(prog), f));
}

/* --- open calls ----------------------------------------------------------- */

static inline uint32_t
frame_open(struct agent_state *st)
{
	uint32_t i = 1;

	__asm__ volatile("xaddl %0, %1" : "+r"(i), "+m"(st->depth) : : "cc");
	return (i);
}

/* In this order: a handler that comes between must find nothing half done. */
static inline void
frame_drop_top(struct agent_state *st)
{
	volatile struct agent_frame *fr = &st->frames[st->depth - 1];

	fr->slot = FRAME_FREE;
	__asm__ volatile("" : : : "memory");
	st->depth--;
}

static inline const struct agent_probe *
probe_get(uint32_t idx)
{
	return ((const struct agent_probe *)agent_home.chunks[idx /
	    AGENT_CHUNK] + idx % AGENT_CHUNK);
}

/*
 * Whether the reader has to be told what the call is.  An interrupted record
 * may be the reason, or one that had no room.
 */
static inline bool
exit_is_whole(const struct agent_state *st, const struct agent_frame *fr,
    uint64_t tsc)
{
	return (st->top != fr->id || fr->id <= st->since ||
	    tsc - st->tsc >= BRIEF_TICKS);
}

static void
emit_exit(struct agent_state *st, const struct agent_frame *fr, uint64_t tsc,
    const struct regs *f, uint32_t flags)
{
	const struct agent_probe *p = probe_get(fr->probe);
	volatile struct agent_slot *sh = (void *)st->shared;
	bool whole = exit_is_whole(st, fr, tsc);
	struct out o;
	uint64_t at, words;
	uint32_t n;

	n = f == NULL ? 0 : captured_bytes(p->leave, p->leave_size, f);
	whole = whole || record_words(false, n) > BRIEF_WORDS;
	words = record_words(whole, n);
	if (!reserve(st, words, 0, &at)) {
		n = 0;
		words = record_words(whole, 0);
		if (!reserve(st, words, 0, &at)) {
			sh->lost_exits++;
			return;
		}
	}
	out_begin(&o, st, at, whole, n);
	if (n == 0)
		flags |= RECORD_BARE;
	else if ((p->flags & PROBE_LEAVE_REGS) == 0 ||
	    !capture_registers(&o, program(p->leave), f))
		capture(st, &o, program(p->leave), f);
	if (whole)
		put_whole(&o, at, words, tsc, fr->id, fr->tsc);
	commit(&o, at, tsc, what_of(p->fn, AGENT_EXIT, flags,
	    whole ? 0 : words));
	st->tsc = tsc;
	/* the reader may have dropped the call when its caller ended */
	if (fr->id <= st->top && (fr->id > st->since || fr->id == st->top))
		st->top = fr->under;
}

/* It will not return, or nobody will see it. */
static void
frame_abandon(struct agent_state *st, struct agent_frame *fr)
{
	struct agent_frame copy_of = *fr;

	fr->slot = FRAME_DEAD;
	if (copy_of.id != 0 && recording())
		emit_exit(st, &copy_of, clock_now(st), NULL, RECORD_UNWOUND);
}

static inline uint64_t
expected(const struct agent_frame *fr)
{
	return (fr->restored ? fr->ra : probe_get(fr->probe)->marker);
}

/*
 * Drops frames on top whose place on the stack is in use by others: longjmp
 * has jumped over them.  A frame whose marker still stands at its place may
 * belong to another stack of this thread, or to a function that has ended in a
 * jump; it is kept, because a function that returns to a marker must find its
 * frame.
 */
static void
prune(struct agent_state *st, uint64_t slot)
{
	struct agent_frame *fr;
	uint64_t there;

	while (st->depth > 0) {
		fr = &st->frames[st->depth - 1];
		if (fr->slot > slot || fr->slot == FRAME_FREE)
			break;
		if (fr->slot != FRAME_DEAD && !fr->restored) {
			if (!sane(fr->slot) || !load_word(fr->slot, &there) ||
			    there == expected(fr))
				break;
		}
		if (fr->slot != FRAME_DEAD)
			frame_abandon(st, fr);
		frame_drop_top(st);
	}
}

/* An unwinder is about to walk the stack: it shall find what was there. */
static void
restore(struct agent_state *st, uint64_t sp)
{
	struct agent_frame *fr;
	uint64_t there;
	uint32_t i;

	for (i = st->depth; i > 0; i--) {
		fr = &st->frames[i - 1];
		if (fr->slot == FRAME_FREE || fr->slot == FRAME_DEAD ||
		    fr->restored || !load_word(fr->slot, &there) ||
		    there != expected(fr))
			continue;
		fr->restored = 1;
		if (!store_word(fr->slot, fr->ra))
			fr->restored = 0;
	}
	st->unwind_sp = sp;
	st->unwound = 1;
}

/*
 * Check whether the program may still return to frame `i`.  If several frames
 * have the same place on the stack, the newest is alive if its marker stands
 * there.  An older frame is alive if it has jumped to the newer one, which
 * then has the older one's marker as its return address.  Dead frames above
 * `i` have no place on the stack.
 */
static bool
is_alive(const struct agent_state *st, uint32_t i, uint32_t n)
{
	const struct agent_frame *fr = &st->frames[i];
	uint64_t there;
	uint32_t k;

	if (!sane(fr->slot) || !load_word(fr->slot, &there))
		return (false);
	for (k = n; k > i + 1; k--)
		if (st->frames[k - 1].slot == fr->slot)
			there = st->frames[k - 1].ra;
	return (there == expected(fr));
}

/*
 * Watch the frames again that the unwinder has left.  The frames below `end`
 * are gone, and so are the frames that were called from a frame of which the
 * return address is gone: what a dead frame has left on the stack may look
 * alive.  Callers come first, so that a function that was jumped to finds the
 * marker of the one that jumped.  Gone frames are recorded innermost first.
 */
static void
rearm(struct agent_state *st, uint64_t end)
{
	struct agent_frame *fr;
	uint64_t there;
	uint32_t i;

	st->unwound = 0;
	for (i = 0; i < st->depth; i++) {
		fr = &st->frames[i];
		if (fr->slot == FRAME_FREE || fr->slot == FRAME_DEAD ||
		    !fr->restored || fr->slot < end)
			continue;
		if (!load_word(fr->slot, &there) || there != fr->ra) {
			end = fr->slot + WORD;
			continue;
		}
		fr->restored = 0;
		if (!store_word(fr->slot, expected(fr)))
			fr->restored = 1;
	}
	for (i = st->depth; i > 0; i--) {
		fr = &st->frames[i - 1];
		if (fr->slot > FRAME_DEAD && fr->slot < end &&
		    (fr->restored || !is_alive(st, i - 1, st->depth)))
			frame_abandon(st, fr);
	}
	while (st->depth > 0 &&
	    st->frames[st->depth - 1].slot == FRAME_DEAD)
		frame_drop_top(st);
}

/*
 * Find where the stack of the function ends that catches an exception.  Both
 * libgcc and LLVM's libunwind keep it in private_2 of the exception's header,
 * unless private_1 says that the unwinding is forced.  __cxa_begin_catch is
 * called by that function, but __rust_panic_cleanup is not.
 */
static uint64_t
catcher_end(uint64_t exception, uint64_t slot)
{
	uint64_t forced, end;

	if (!sane(exception) || !load_word(exception + 2 * WORD, &forced) ||
	    forced != 0 || !load_word(exception + 3 * WORD, &end) ||
	    end <= slot || !sane(end))
		return (slot + WORD);
	return (end);
}

/*
 * Give up the frames that an exception has skipped.  A traced destructor may
 * have caused dead frames to be watched again before the catch.
 */
static void
caught(struct agent_state *st, uint64_t exception, uint64_t slot)
{
	if (slot <= st->unwind_sp)
		return;
	if (!st->unwound)
		restore(st, st->unwind_sp);
	rearm(st, catcher_end(exception, slot));
}

/*
 * Frames that longjmp has left behind under others.  Every live frame is in
 * the list all the time, as a handler may come between, and jump away.
 */
static void
collect(struct agent_state *st)
{
	uint32_t n = st->depth, i, to = 0;

	st->in_gc = 1;
	for (i = n; i > 0; i--)
		if (st->frames[i - 1].slot > FRAME_DEAD &&
		    !is_alive(st, i - 1, n))
			frame_abandon(st, &st->frames[i - 1]);
	for (i = 0; i < n; i++)
		if (st->frames[i].slot != FRAME_DEAD &&
		    st->frames[i].slot != FRAME_FREE)
			st->frames[to++] = st->frames[i];
	for (i = n; i > to; i--)
		((volatile struct agent_frame *)&st->frames[i - 1])->slot =
		    FRAME_FREE;
	st->depth = to;
	st->gc_at = 2 * to < AGENT_FEW ? AGENT_FEW : 2 * to;
	if (st->gc_at > AGENT_FRAMES && to < AGENT_FRAMES / 4 * 3)
		st->gc_at = AGENT_FRAMES;
	st->in_gc = 0;
}

static inline void
collect_if_many(struct agent_state *st)
{
	uint32_t at = st->gc_at == 0 ? AGENT_FEW : st->gc_at;

	/* at the very end the mark is of one that was jumped out of */
	if (st->depth >= at && !st->unwound &&
	    (!st->in_gc || st->depth >= AGENT_FRAMES))
		collect(st);
}

/* Very deep, or very many left behind: that is looked at now and then. */
static bool
make_room(struct agent_state *st)
{
	volatile struct agent_slot *sh = (void *)st->shared;

	if (++sh->deep % AGENT_FRAMES == 0 && !st->unwound)
		collect(st);
	return (false);
}

/* The frame that returns through `slot`, the newest if there are several. */
static struct agent_frame *
frame_find(struct agent_state *st, uint64_t slot, uint32_t idx)
{
	uint32_t i;

	for (i = st->depth; i > 0; i--)
		if (st->frames[i - 1].slot == slot &&
		    st->frames[i - 1].probe == idx)
			return (&st->frames[i - 1]);
	return (NULL);
}

/* --- storms --------------------------------------------------------------- */

/* Counts are not exact between threads, and need not be. */
static bool
window_renew(struct agent_probe *p, const struct agent_state *st)
{
	uint64_t now = clock_now(st), windows, allowed;

	if (now - p->window < agent_home.window)
		return (false);
	windows = (now - p->window) / agent_home.window;
	if (p->window == 0 || windows > 1000)
		windows = 1000;
	allowed = windows * p->budget;
	p->stride = p->calls > allowed ? (uint32_t)(p->calls / allowed) + 1 : 1;
	p->calls = 0;
	p->left = p->budget;
	p->window = now;
	return (true);
}

static inline bool
within_budget(struct agent_probe *p, const struct agent_state *st)
{
	p->calls++;
	if (p->stride > 1 && ++p->tick < p->stride)
		goto skip;
	p->tick = 0;
	if (p->left == 0 && !window_renew(p, st))
		goto skip;
	p->left--;
	return (true);
skip:
	if (++p->skipped % RECHECK == 0)
		(void)window_renew(p, st);
	return (false);
}

/* --- ways in -------------------------------------------------------------- */

static inline uint64_t
caller_id(const struct agent_state *st)
{
	const struct agent_frame *fr;

	if (st->depth == 0)
		return (0);
	fr = &st->frames[st->depth - 1];
	return (fr->slot == FRAME_FREE ? 0 : fr->id);
}

/*
 * Where the captures end is seen by the clock, so that they do not count as
 * the function's; only then it is known whether a brief record can say it.
 */
static inline bool
emit_enter(struct agent_state *st, const struct agent_probe *p,
    const struct regs *f, bool leave, struct agent_frame *fr)
{
	uint32_t flags = (p->stride > 1 ? RECORD_SAMPLED : 0) |
	    (leave ? 0 : RECORD_OPEN);
	uint32_t n = captured_bytes(p->enter, p->enter_size, f);
	uint64_t at, tsc, words, link = caller_id(st);
	bool whole = link != st->top ||
	    record_words(false, n) > BRIEF_WORDS;
	struct out o;

	for (;; whole = true) {
		words = record_words(whole, n);
		if (!reserve(st, words, (uint64_t)(st->depth + 1) * EXIT_ROOM,
		    &at)) {
			if ((p->flags & PROBE_INNER) == 0)
				((volatile struct agent_slot *)st->shared)->
				    lost++;
			return (false);
		}
		out_begin(&o, st, at, whole, n);
		if (n != 0 && ((p->flags & PROBE_ENTER_REGS) == 0 ||
		    !capture_registers(&o, program(p->enter), f)))
			capture(st, &o, program(p->enter), f);
		tsc = clock_now(st);
		if (whole || tsc - st->tsc < BRIEF_TICKS)
			break;
		commit(&o, at, tsc, what_of(p->fn, AGENT_VOID, 0, words));
	}
	fr->under = link;
	if (whole) {
		put_whole(&o, at, words, tsc, link, 0);
		if (link > st->top) {
			/* the reader lacks the caller, and drops all calls */
			st->since = link;
			fr->under = 0;
		}
	}
	commit(&o, at, tsc, what_of(p->fn, AGENT_ENTER, flags,
	    whole ? 0 : words));
	st->tsc = tsc;
	fr->id = RECORD_ID(at);
	fr->tsc = tsc;
	st->top = leave ? fr->id : fr->under;
	return (true);
}

/* Does what special probes are for.  False: the call is not recorded. */
static bool
is_recorded(struct agent_state *st, const struct agent_probe *p,
    const struct regs *f)
{
	uint64_t slot = f->r[7];

	if ((p->flags & PROBE_ON) == 0)
		return (false);
	if (p->flags & PROBE_OBJECTS) {
		look_at_objects();
		return (false);
	}
	if (p->flags & PROBE_UNWINDER) {
		restore(st, slot);
		return (false);
	}
	if (p->flags & PROBE_CATCH) {
		caught(st, f->r[ARG_FIRST], slot);
		return (false);
	}
	if (p->flags & PROBE_WALKS)
		restore(st, slot);
	return ((p->flags & PROBE_INNER) == 0 ||
	    (uint32_t)f->r[ARG_FIRST] - p->least < p->many);
}

/*
 * A function begins.  Returns 0 if its return is to be seen as well, else
 * where its code goes on.
 */
static inline uint64_t
begin(struct regs *f, uint32_t idx, bool may_leave)
{
	struct agent_probe *p = (struct agent_probe *)probe_get(idx);
	struct agent_state *st;
	volatile struct agent_frame *fr;
	struct agent_frame made;
	uint64_t slot = f->r[7];
	bool leave;
	uint32_t i;

	if (!recording())
		return (p->resume);
	st = state_get(true);
	if (st == NULL) {
		if ((p->flags & PROBE_INNER) == 0)
			__atomic_fetch_add(&agent_control.strangers, 1,
			    __ATOMIC_RELAXED);
		return (p->resume);
	}
	if (__builtin_expect((p->flags & PROBE_KINDS) != PROBE_ON, 0) &&
	    !is_recorded(st, p, f))
		return (p->resume);
	if (__builtin_expect(st->unwound, 0) && slot > st->unwind_sp)
		rearm(st, slot + WORD);
	if (st->depth > 0 && st->frames[st->depth - 1].slot <= slot)
		prune(st, slot);
	if (__builtin_expect(st->depth >= AGENT_FEW, 0))
		collect_if_many(st);
	if (p->budget != 0 && !within_budget(p, st))
		return (p->resume);
	leave = may_leave && (p->flags & PROBE_LEAVE) != 0;
	if (leave && st->depth >= AGENT_FRAMES)
		leave = make_room(st);
	if (!emit_enter(st, p, f, leave, &made) || !leave)
		return (p->resume);
	i = frame_open(st);
	if (i >= AGENT_FRAMES + AGENT_SPARE) {
		st->depth--;
		return (p->resume);
	}
	fr = &st->frames[i];
	fr->ra = *(uint64_t *)slot;
	fr->id = made.id;
	fr->tsc = made.tsc;
	fr->under = made.under;
	fr->probe = idx;
	fr->restored = 0;
	__asm__ volatile("" : : : "memory");
	fr->slot = slot;
	return (0);
}

uint64_t
agent_enter(struct regs *f, uint32_t idx)
{
	return (begin(f, idx, true));
}

uint64_t
agent_enter_open(struct regs *f, uint32_t idx)
{
	return (begin(f, idx, false));
}

/* A function returns.  Returns where to. */
uint64_t
agent_leave(struct regs *f, uint32_t idx)
{
	bool records = recording();
	struct agent_state *st = state_get(records);
	struct agent_frame *fr, done;
	uint64_t slot = f->r[7] - WORD, tsc;

	if (st == NULL)
		__builtin_trap();
	tsc = records ? clock_now(st) : 0;
	fr = &st->frames[st->depth - 1];
	if (__builtin_expect(st->depth == 0 || fr->slot != slot ||
	    fr->probe != idx, 0))
		fr = frame_find(st, slot, idx);
	if (fr == NULL)
		__builtin_trap();
	done = *fr;
	if (fr == &st->frames[st->depth - 1])
		frame_drop_top(st);
	else
		fr->slot = FRAME_DEAD;
	if (tsc != 0)
		emit_exit(st, &done, tsc, f, 0);
	return (done.ra);
}
