/* SPDX-License-Identifier: ISC */
/*
 * x86-64: stubs, and the moving of instructions into them.
 *
 *	with returns			without
 *	push probe			push probe
 *	call *enter			call *enter
 *	call resume		resume:	first instructions
 * marker:	push probe			jmp function + n
 *	call *leave
 *	ret
 * resume: first instructions
 *	jmp function + n
 *
 * The call fills the place of the return address that the agent has taken
 * away, so arguments on the stack stay where they are, and every ret meets the
 * call that the processor expects.
 */
#if defined(__x86_64__)
#include <sys/auxv.h>

#include <string.h>

#include <Zydis/Zydis.h>

#include "agent/agent.h"
#include "arch.h"
#include "x86.h"

#define HEAD_ENTER	0
#define HEAD_SMALL	8
#define HEAD_LEAVE	16
#define INSN_MOST	15
/* bit of AT_HWCAP2: programs may use rdfsbase and its like */
#define FSGSBASE	2

extern const uint8_t agent_blob[], agent_blob_end[];
extern const uint8_t agent_blob_plain[], agent_blob_plain_end[];

struct out {
	uint8_t	*buf;
	size_t	 len;
	uint64_t addr;		/* of buf[0] */
	bool	 far;		/* a distance did not fit */
};

const char *
arch_supported(void)
{
	return (NULL);
}

bool
arch_reads_bases(void)
{
	return ((getauxval(AT_HWCAP2) & FSGSBASE) != 0);
}

const uint8_t *
arch_agent(size_t *len)
{
	if (!arch_reads_bases()) {
		*len = (size_t)(agent_blob_plain_end - agent_blob_plain);
		return (agent_blob_plain);
	}
	*len = (size_t)(agent_blob_end - agent_blob);
	return (agent_blob);
}

static void
put(struct out *o, const void *bytes, size_t n)
{
	if (o->len + n > ARCH_STUB) {
		o->far = true;
		return;
	}
	memcpy(o->buf + o->len, bytes, n);
	o->len += n;
}

static void
put1(struct out *o, int byte)
{
	uint8_t b = (uint8_t)byte;

	put(o, &b, 1);
}

static void
put4(struct out *o, uint32_t v)
{
	put(o, &v, sizeof(v));
}

/* The 32-bit distance from behind itself (and `more` bytes) to there. */
static void
put_rel(struct out *o, uint64_t to, size_t more)
{
	int64_t d = (int64_t)(to - (o->addr + o->len + 4 + more));

	if (d != (int32_t)d)
		o->far = true;
	put4(o, (uint32_t)d);
}

static void
put_call(struct out *o, uint64_t cell)
{
	put1(o, 0xff);
	put1(o, 0x15);
	put_rel(o, cell, 0);
}

static void
put_push(struct out *o, uint32_t v)
{
	put1(o, 0x68);
	put4(o, v);
}

static void
put_push_addr(struct out *o, uint64_t addr)
{
	static const uint8_t high[] = { 0xc7, 0x44, 0x24, 0x04 };

	put_push(o, (uint32_t)addr);
	put(o, high, sizeof(high));
	put4(o, (uint32_t)(addr >> 32));
}

static void
put_jump(struct out *o, uint64_t to)
{
	put1(o, 0xe9);
	put_rel(o, to, 0);
}

/* --- moving --------------------------------------------------------------- */

/* jrcxz and loop have no long form. */
static void
move_short(struct out *o, const uint8_t *b, const struct x86_insn *i)
{
	put(o, b, (size_t)i->len - 1);
	put1(o, 2);
	put1(o, 0xeb);
	put1(o, 5);
	put_jump(o, i->target);
}

static bool
has_short_only(const struct x86_insn *i)
{
	return (i->mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
	    i->mnemonic == ZYDIS_MNEMONIC_JECXZ ||
	    i->mnemonic == ZYDIS_MNEMONIC_LOOP ||
	    i->mnemonic == ZYDIS_MNEMONIC_LOOPE ||
	    i->mnemonic == ZYDIS_MNEMONIC_LOOPNE);
}

/*
 * Unwinders may come by, also of a library that is loaded later: a call's
 * return address is the function's own.
 */
static const char *
move_branch(struct out *o, const uint8_t *b, const struct x86_insn *i,
    uint64_t behind)
{
	if (has_short_only(i)) {
		move_short(o, b, i);
	} else if (i->category == ZYDIS_CATEGORY_CALL) {
		put_push_addr(o, behind);
		put_jump(o, i->target);
	} else if (i->category == ZYDIS_CATEGORY_UNCOND_BR) {
		put_jump(o, i->target);
	} else if (i->condition >= 0) {
		put1(o, 0x0f);
		put1(o, 0x80 | i->condition);
		put_rel(o, i->target, 0);
	} else
		return ("its first bytes hold a branch that cannot be moved");
	return (NULL);
}

/* call *x is push and jmp *x, which is one bit more and one less. */
static bool
move_call(struct out *o, uint8_t *b, const struct x86_insn *i, uint64_t behind)
{
	if (i->by_sp || (b[i->modrm_at] & 0x38) != 0x10)
		return (false);
	put_push_addr(o, behind);
	b[i->modrm_at] ^= 0x30;
	return (true);
}

static const char *
move(struct out *o, const struct arch_code *c, size_t at)
{
	uint8_t b[INSN_MOST];
	struct x86_insn i;

	if (!x86_decode(c, at, &i))
		return ("its first bytes are no instructions");
	memcpy(b, c->bytes + at, i.len);
	if (i.branch)
		return (move_branch(o, b, &i, c->addr + at + i.len));
	if (i.category == ZYDIS_CATEGORY_CALL &&
	    !move_call(o, b, &i, c->addr + at + i.len))
		return ("an exception could not pass its first call");
	if (!i.riprel) {
		put(o, b, i.len);
		return (NULL);
	}
	put(o, b, i.disp_at);
	put_rel(o, i.target, (size_t)i.len - i.disp_at - 4);
	put(o, b + i.disp_at + 4, (size_t)i.len - i.disp_at - 4);
	return (NULL);
}

static const char *
move_all(struct out *o, const struct arch_code *c, struct arch_plan *p)
{
	const char *why;
	uint32_t n;

	for (n = 0; n < p->ninsns; n++) {
		p->insns[n].to = (uint8_t)o->len;
		why = move(o, c, p->at + p->insns[n].from);
		if (why != NULL)
			return (why);
	}
	p->insns[n].to = (uint8_t)o->len;
	put_jump(o, c->addr + p->at + p->len);
	return (NULL);
}

const char *
arch_stub(const struct arch_code *c, struct arch_plan *p, struct arch_stub *s,
    uint8_t *buf)
{
	struct out o = { .buf = buf, .addr = s->addr };
	const char *why;

	put_push(&o, s->probe);
	put_call(&o, s->area + (s->small ? HEAD_SMALL : HEAD_ENTER));
	s->marker = 0;
	if (s->leave) {
		put1(&o, 0xe8);
		put4(&o, 12);
		s->marker = s->addr + o.len;
		put_push(&o, s->probe);
		put_call(&o, s->area + HEAD_LEAVE);
		put1(&o, 0xc3);
	}
	s->resume = s->addr + o.len;
	why = move_all(&o, c, p);
	if (why == NULL && o.far)
		why = "its first bytes refer to an address that is out of "
		    "reach";
	s->len = o.len;
	return (why);
}

void
arch_head(uint64_t agent, uint8_t out[ARCH_HEAD])
{
	struct agent_header h;
	uint64_t v;
	size_t len;

	memcpy(&h, arch_agent(&len), sizeof(h));
	memset(out, 0xcc, ARCH_HEAD);
	v = agent + h.enter;
	memcpy(out + HEAD_ENTER, &v, sizeof(v));
	v = agent + h.enter_small;
	memcpy(out + HEAD_SMALL, &v, sizeof(v));
	v = agent + h.leave;
	memcpy(out + HEAD_LEAVE, &v, sizeof(v));
}

void
arch_jump(uint64_t from, uint64_t to, uint8_t *out)
{
	int32_t d = (int32_t)(to - (from + ARCH_JUMP));

	out[0] = 0xe9;
	memcpy(out + 1, &d, sizeof(d));
}

uint64_t
arch_moved(const struct arch_code *c, const struct arch_plan *p,
    const struct arch_stub *s, uint64_t pc)
{
	uint64_t off = pc - (c->addr + p->at);
	uint32_t n;

	/* at the first of them it goes through the jump like everybody */
	if (off == 0 || off >= p->len)
		return (pc);
	for (n = 0; n < p->ninsns; n++)
		if (p->insns[n].from == off)
			return (s->addr + p->insns[n].to);
	return (pc);
}

/*
 * The personality routines compare with the name of their language as a
 * number: "GNUCC++\0", "MOZ\0RUST".
 */
bool
arch_throws(const uint8_t *text, size_t len)
{
	return (memmem(text, len, "\0++CCUNG", 8) != NULL ||
	    memmem(text, len, "TSUR\0ZOM", 8) != NULL);
}
#endif
