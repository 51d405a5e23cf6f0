/* SPDX-License-Identifier: ISC */
/*
 * x86-64: which bytes of a function can give way to a jump.
 *
 * The whole function is read.  Its first instructions move until a jump fits,
 * provided that nothing jumps between them.  A function that looks at its own
 * return address (setjmp, vfork, dlopen, the loader's resolver) or may be
 * entered otherwise than by a call must find what the caller has left, so its
 * return is not watched.
 */
#if defined(__x86_64__)
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "arch.h"
#include "x86.h"

#define UNKNOWN_MOST	65536	/* bytes read of a function without a size */
#define RBP		5	/* as the processor numbers them */
#define RSP		4
#define VOLATILE	0x0fc7	/* what a call may change */

/* Where registers point, counted from the return address. */
struct track {
	int64_t	 off[16];
	uint32_t known;		/* bit per register */
};

const ZydisDecoder *
x86_decoder(void)
{
	static ZydisDecoder d;
	static bool ready;

	if (!ready) {
		(void)ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64,
		    ZYDIS_STACK_WIDTH_64);
		ready = true;
	}
	return (&d);
}

/* The low half of the opcode of jcc, short or long. */
static int
condition(const ZydisDecodedInstruction *d)
{
	bool narrow = d->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	    (d->opcode & 0xf0) == 0x70, wide = d->opcode_map ==
	    ZYDIS_OPCODE_MAP_0F && (d->opcode & 0xf0) == 0x80;

	return (narrow || wide ? d->opcode & 0x0f : -1);
}

static bool
is_by_sp(const ZydisDecodedInstruction *d)
{
	uint8_t rm = d->raw.modrm.rm;

	if ((d->attributes & ZYDIS_ATTRIB_HAS_SIB) != 0)
		rm = d->raw.sib.base;
	return (rm == RSP && (d->attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 &&
	    d->raw.rex.B == 0);
}

bool
x86_decode(const struct arch_code *c, size_t at, struct x86_insn *i)
{
	ZydisDecodedInstruction d;
	ZydisDecoderContext ctx;

	memset(i, 0, sizeof(*i));
	if (at >= c->avail ||
	    ZYAN_FAILED(ZydisDecoderDecodeInstruction(
		x86_decoder(), &ctx, c->bytes + at, c->avail - at, &d)))
		return (false);
	i->len = d.length;
	i->mnemonic = d.mnemonic;
	i->category = d.meta.category;
	i->condition = condition(&d);
	i->modrm_at = d.raw.modrm.offset;
	i->by_sp = is_by_sp(&d);
	if (d.raw.imm[0].is_relative) {
		i->branch = true;
		i->target = c->addr + at + d.length +
		    (uint64_t)d.raw.imm[0].value.s;
	} else if ((d.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 &&
	    d.raw.modrm.mod == 0 && d.raw.modrm.rm == 5) {
		i->riprel = true;
		i->disp_at = d.raw.disp.offset;
		i->target = c->addr + at + d.length +
		    (uint64_t)d.raw.disp.value;
	}
	return (true);
}

static bool
is_end(const struct x86_insn *i)
{
	return (i->category == ZYDIS_CATEGORY_RET ||
	    i->category == ZYDIS_CATEGORY_UNCOND_BR ||
	    i->mnemonic == ZYDIS_MNEMONIC_UD2 ||
	    i->mnemonic == ZYDIS_MNEMONIC_HLT);
}

static bool
is_padding(const struct x86_insn *i)
{
	return (i->mnemonic == ZYDIS_MNEMONIC_NOP ||
	    i->mnemonic == ZYDIS_MNEMONIC_INT3);
}

static bool
is_call(const struct x86_insn *i)
{
	return (i->category == ZYDIS_CATEGORY_CALL);
}

/* --- what moves ----------------------------------------------------------- */

/* The instructions that a jump at `at` would lie over. */
static const char *
cover(const struct arch_code *c, struct arch_plan *p, size_t size)
{
	struct x86_insn i;
	size_t at = p->at;
	bool ended = false;

	/* at most four bytes and one more instruction: within ARCH_MOVED */
	while (at - p->at < ARCH_JUMP) {
		if (!x86_decode(c, at, &i))
			return ("its first bytes are no instructions");
		if (size != 0 && at >= size && !is_padding(&i))
			return ("it is shorter than a jump");
		if (size == 0 && ended && !is_padding(&i))
			return ("it is shorter than a jump");
		if (p->ninsns == ARCH_INSNS)
			return ("its first instructions are too many");
		p->insns[p->ninsns++].from = (uint8_t)(at - p->at);
		at += i.len;
		ended = ended || is_end(&i);
		if (is_call(&i) && at - p->at < ARCH_JUMP)
			return ("a call returns into its first bytes");
	}
	p->len = (uint32_t)(at - p->at);
	p->insns[p->ninsns].from = (uint8_t)p->len;
	return (NULL);
}

/* --- the whole of it ------------------------------------------------------ */

static void
jump_out(struct arch_jumps *j, uint64_t to)
{
	uint64_t *more;
	size_t room;

	if (j == NULL)
		return;
	if (j->n == j->room) {
		room = j->room == 0 ? 1024 : 2 * j->room;
		more = reallocarray(j->to, room, sizeof(*more));
		if (more == NULL)
			return;
		j->to = more;
		j->room = room;
	}
	j->to[j->n++] = to;
}

static const char *
check_branch(const struct arch_code *c, const struct arch_plan *p,
    const struct x86_insn *i, uint64_t end, struct arch_jumps *jumps)
{
	uint64_t first = c->addr + p->at;

	/* where a function without a size ends is not known either */
	if (c->size == 0)
		end = first + p->len;
	if (i->target < c->addr || i->target >= end) {
		if (!is_call(i))
			jump_out(jumps, i->target);
		return (NULL);
	}
	if (i->target > first && i->target < first + p->len)
		return ("it jumps back into its first bytes");
	if (i->target <= first && !is_call(i) && !c->reentered)
		return ("a loop begins with its first instruction");
	if (is_call(i) && i->target > first)
		return ("it calls a part of itself");
	return (NULL);
}

/*
 * Every branch of the function.  Without a size it ends with the first end
 * of a path behind which no branch has led.
 */
static const char *
check_body(const struct arch_code *c, const struct arch_plan *p,
    struct arch_jumps *jumps)
{
	size_t size = c->size == 0 ? UNKNOWN_MOST : c->size, at = 0;
	uint64_t furthest = c->addr;
	struct x86_insn i;
	const char *why;

	if (size > c->avail)
		size = c->avail;
	for (; at < size; at += i.len) {
		if (!x86_decode(c, at, &i)) {
			/* a table among the code; what follows is unknown */
			if (c->size == 0 || at < p->at + p->len)
				break;
			i.len = 1;
			continue;
		}
		if (i.branch) {
			why = check_branch(c, p, &i, c->addr + size, jumps);
			if (why != NULL)
				return (why);
			if (!is_call(&i) && i.target > furthest)
				furthest = i.target;
		}
		if (c->size == 0 && is_end(&i) && furthest <= c->addr + at)
			break;
	}
	return (NULL);
}

/* --- the return address --------------------------------------------------- */

/* The processor's number of a 64-bit register, -1 if it is none. */
static int
number(ZydisRegister r)
{
	if (r < ZYDIS_REGISTER_RAX || r > ZYDIS_REGISTER_R15)
		return (-1);
	return ((int)(r - ZYDIS_REGISTER_RAX));
}

/*
 * Whether an operand is at the return address.  push and call write below that
 * address; pop may read it.
 */
static bool
touches(const struct track *t, const ZydisDecodedOperand *o, bool pop)
{
	int base = number(o->mem.base);
	int64_t at;

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    o->mem.type != ZYDIS_MEMOP_TYPE_MEM || base < 0 ||
	    o->mem.index != ZYDIS_REGISTER_NONE ||
	    (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !pop) ||
	    (t->known & 1U << base) == 0)
		return (false);
	at = t->off[base] + (o->mem.disp.has_displacement ?
	    o->mem.disp.value : 0);
	return (at < 8 && at + o->size / 8 > 0);
}

static void
forget(struct track *t, const ZydisDecodedOperand *o)
{
	ZydisRegister r;
	int n;

	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
		return;
	r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
	    o->reg.value);
	n = number(r);
	if (n >= 0)
		t->known &= ~(1U << n);
}

/* mov and lea between registers that are known, add and sub of a number. */
static bool
derive(struct track *t, const ZydisDecodedInstruction *d,
    const ZydisDecodedOperand *o)
{
	int64_t off;
	int to, from;

	to = o[0].type == ZYDIS_OPERAND_TYPE_REGISTER ?
	    number(o[0].reg.value) : -1;
	if (to < 0)
		return (false);
	if (d->mnemonic == ZYDIS_MNEMONIC_MOV &&
	    o[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		from = number(o[1].reg.value);
		off = 0;
	} else if (d->mnemonic == ZYDIS_MNEMONIC_LEA &&
	    o[1].mem.index == ZYDIS_REGISTER_NONE) {
		from = number(o[1].mem.base);
		off = o[1].mem.disp.value;
	} else if ((d->mnemonic == ZYDIS_MNEMONIC_ADD ||
	    d->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	    o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		from = to;
		off = d->mnemonic == ZYDIS_MNEMONIC_ADD ? o[1].imm.value.s :
		    -o[1].imm.value.s;
	} else
		return (false);
	if (from < 0 || (t->known & 1U << from) == 0)
		return (false);
	t->off[to] = t->off[from] + off;
	t->known |= 1U << to;
	return (true);
}

static void
track(struct track *t, const ZydisDecodedInstruction *d,
    const ZydisDecodedOperand *o)
{
	uint32_t stack = t->known & 1U << RSP;
	int n;

	if (d->meta.category == ZYDIS_CATEGORY_CALL) {
		t->known &= ~(uint32_t)VOLATILE;
		return;
	}
	if (derive(t, d, o))
		return;
	for (n = 0; n < d->operand_count; n++)
		forget(t, &o[n]);
	if (d->mnemonic == ZYDIS_MNEMONIC_PUSH ||
	    d->mnemonic == ZYDIS_MNEMONIC_PUSHFQ) {
		t->off[RSP] -= 8;
		t->known |= stack;
	} else if (d->mnemonic == ZYDIS_MNEMONIC_POP ||
	    d->mnemonic == ZYDIS_MNEMONIC_POPFQ) {
		t->off[RSP] += 8;
		t->known |= stack;
	}
}

/* Whether it looks, on its straight way, at where it was called from. */
static bool
reads_return(const struct arch_code *c, size_t size)
{
	struct track t = { .known = 1U << RSP };
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	size_t at = 0;
	int n;

	while (at < size && ZYAN_SUCCESS(ZydisDecoderDecodeFull(x86_decoder(),
				c->bytes + at, size - at, &d, o))) {
		if (d.meta.category == ZYDIS_CATEGORY_RET ||
		    d.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
			break;
		for (n = 0; n < d.operand_count; n++)
			if (touches(&t, &o[n],
			    d.mnemonic == ZYDIS_MNEMONIC_POP))
				return (true);
		track(&t, &d, o);
		at += d.length;
	}
	return (false);
}

/* --- */

static bool
is_sigreturn(const struct arch_code *c)
{
	static const uint8_t a[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f,
	    0x05 }, b[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return ((c->avail >= sizeof(a) &&
	    memcmp(c->bytes, a, sizeof(a)) == 0) ||
	    (c->avail >= sizeof(b) && memcmp(c->bytes, b, sizeof(b)) == 0));
}

static size_t
endbr(const struct arch_code *c)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return (c->avail >= sizeof(endbr64) &&
	    memcmp(c->bytes, endbr64, sizeof(endbr64)) == 0 ?
	    sizeof(endbr64) : 0);
}

/*
 * The mark of a function that may be called indirectly stays where it is if
 * there is room behind it.
 */
static const char *
place(const struct arch_code *c, struct arch_plan *p)
{
	const char *why;

	p->at = (uint32_t)endbr(c);
	why = cover(c, p, c->size);
	if (why != NULL && p->at != 0) {
		p->at = p->ninsns = 0;
		why = cover(c, p, c->size);
	}
	return (why);
}

bool
arch_plan(const struct arch_code *c, struct arch_plan *p,
    struct arch_jumps *jumps)
{
	size_t size = c->size == 0 || c->size > c->avail ? c->avail : c->size;

	memset(p, 0, sizeof(*p));
	if (is_sigreturn(c)) {
		p->why_not = "signal handlers return through it";
		return (false);
	}
	p->why_not = place(c, p);
	if (p->why_not == NULL)
		p->why_not = check_body(c, p, jumps);
	if (p->why_not == NULL &&
	    (x86_looks(c, size, &p->walks) || reads_return(c, size)))
		p->why_open = "it looks at its own return address";
	if (p->walks)
		p->why_open = "it looks at its callers' return addresses";
	return (p->why_not == NULL);
}
#endif
