/* SPDX-License-Identifier: ISC */
/*
 * x86-64: functions that look at return addresses, which the agent has taken
 * off the stack while their callers are traced.
 *
 * Unwind tables say where the frame ends at each instruction, so what is read
 * behind a jump is seen as well.  A function that walks along frame pointers
 * takes its own as a number, or loads its caller's.
 */
#if defined(__x86_64__)
#include <Zydis/Zydis.h>
#include <string.h>

#include "arch.h"
#include "cfi.h"
#include "x86.h"

#define ALIGNED 16 /* where compilers begin functions */
#define RBP 5 /* as the processor numbers them */
#define RSP 4
#define SAVED 16  /* from the frame pointer to the end of the frame */
#define WIDEST 64 /* bytes of an operand */

/* An operand in memory by a register and a number. */
static bool
frame_place_of(const ZydisDecodedInstruction *d, int *reg, int64_t *at)
{
	const bool sib = d->raw.modrm.rm == RSP;

	if ((d->attributes & ZYDIS_ATTRIB_HAS_MODRM) == 0 ||
	    d->raw.modrm.mod == 3 || d->raw.rex.B != 0 ||
	    (sib && (d->raw.sib.index != RSP || d->raw.rex.X != 0)))
		return (false);
	*reg = sib ? d->raw.sib.base : d->raw.modrm.rm;
	*at = d->raw.disp.size == 0 ? 0 : d->raw.disp.value;
	return (*reg == RSP || (*reg == RBP && d->raw.modrm.mod != 0));
}

static bool
is_frame_of(const struct arch_frame *f, int reg)
{
	return (f->plain && ((reg == RSP && f->reg == ARCH_SP) ||
				(reg == RBP && f->reg == ARCH_FP)));
}

/* Whether an operand that begins `at` before the frame's end (below 0) has
 * bytes of the return address. */
static bool
reaches(const struct arch_code *c, size_t off, int64_t at)
{
	ZydisDecodedInstruction d;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	int n;

	if (at >= 0 || at < -ARCH_CALLED - WIDEST ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(
		x86_decoder(), c->bytes + off, c->avail - off, &d, o)))
		return (false);
	for (n = 0; n < d.operand_count_visible; n++)
		if (o[n].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    o[n].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    at + o[n].size / 8 > -ARCH_CALLED)
			return (true);
	return (false);
}

/* Whether the frame pointer goes to where it is used as a number. */
static bool
copies(const ZydisDecodedInstruction *d)
{
	const bool wide = d->raw.rex.W != 0, regs = d->raw.modrm.mod == 3;

	if (d->mnemonic != ZYDIS_MNEMONIC_MOV || !wide)
		return (false);
	if (d->opcode == 0x89 && d->raw.modrm.reg == RBP && !d->raw.rex.R)
		return (!regs || d->raw.modrm.rm != RSP || d->raw.rex.B);
	return (d->opcode == 0x8b && regs && d->raw.modrm.rm == RBP &&
		!d->raw.rex.B && (d->raw.modrm.reg != RSP || d->raw.rex.R));
}

static bool
takes(const ZydisDecodedInstruction *d, int reg, int64_t at)
{
	if (reg != RBP)
		return (false);
	if (d->mnemonic == ZYDIS_MNEMONIC_LEA)
		return (at >= 0 && at < SAVED);
	/* the caller's, by something else than pop */
	return (d->mnemonic == ZYDIS_MNEMONIC_MOV && d->opcode == 0x8b &&
		d->raw.rex.W != 0 && at == 0);
}

bool
x86_looks(const struct arch_code *c, size_t size, bool *walks)
{
	const struct arch_frame *f;
	ZydisDecodedInstruction d;
	ZydisDecoderContext ctx;
	bool looks = false, has_place;
	size_t at;
	int64_t off = 0;
	int reg = -1;

	*walks = false;
	for (at = 0; c->nframes > 0 && at < size; at += d.length) {
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(x86_decoder(),
			&ctx, c->bytes + at, c->avail - at, &d))) {
			d.length = 1;
			continue;
		}
		f = cfi_at(c->frames, c->nframes, c->addr + at);
		if (f == NULL)
			continue;
		has_place = frame_place_of(&d, &reg, &off);
		if (is_frame_of(f, RBP) && f->off == SAVED &&
		    (copies(&d) || (has_place && takes(&d, reg, off))))
			*walks = true;
		if (has_place && is_frame_of(f, reg) &&
		    reaches(c, at, off - f->off))
			looks = true;
	}
	return (looks);
}

bool
arch_walks(const struct arch_code *c)
{
	bool walks;

	(void)x86_looks(c, c->size, &walks);
	return (walks);
}

bool
arch_may_walk(const uint8_t *text, size_t len)
{
	static const uint8_t frame[][3] = {
		{ 0x48, 0x89, 0xe5 }, { 0x48, 0x8b, 0xec } /* mov rbp, rsp */
	};
	size_t at;

	if (memmem(text, len, frame[0], sizeof(frame[0])) == NULL &&
	    memmem(text, len, frame[1], sizeof(frame[1])) == NULL)
		return (false);
	/* a number of 64 bits that is rbp, or lies at or beside it */
	for (at = 0; at + 3 < len; at++)
		if ((text[at] & 0xf8) == 0x48 &&
		    ((text[at + 1] == 0x89 && (text[at + 2] & 0x38) == 0x28) ||
			((text[at + 1] == 0x8b || text[at + 1] == 0x8d) &&
			    (text[at + 2] & 7) == RBP)))
			return (true);
	return (false);
}

/* Offset of the next push rbp; mov rbp, rsp. */
static size_t
next_prologue(const uint8_t *text, size_t len, size_t from)
{
	static const uint8_t frame[][4] = { { 0x55, 0x48, 0x89, 0xe5 },
		{ 0x55, 0x48, 0x8b, 0xec } };
	const uint8_t *at[2];
	size_t i;

	for (i = 0; i < 2; i++)
		at[i] = memmem(text + from, len - from, frame[i],
		    sizeof(frame[i]));
	if (at[0] == NULL || (at[1] != NULL && at[1] < at[0]))
		at[0] = at[1];
	return (at[0] == NULL ? len : (size_t)(at[0] - text));
}

/* Whether no function goes on there, behind a return or jump. */
static bool
is_end(const uint8_t *text, size_t len, uint64_t addr)
{
	return (len == 0 || addr % ALIGNED == 0 || text[0] == 0x90 ||
		text[0] == 0xcc ||
		(len > 1 && text[0] == 0x66 && text[1] == 0x90) ||
		(len > 1 && text[0] == 0x0f && text[1] == 0x1f));
}

/* How far the code goes that begins there; the next function may use the
 * frame pointer as any other register. */
static size_t
length_of(const uint8_t *text, size_t len, uint64_t addr)
{
	ZydisDecodedInstruction d;
	ZydisDecoderContext ctx;
	size_t at;

	for (at = 0; at < len; at += d.length) {
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(x86_decoder(),
			&ctx, text + at, len - at, &d))) {
			d.length = 1;
			continue;
		}
		if ((d.mnemonic == ZYDIS_MNEMONIC_RET ||
			d.mnemonic == ZYDIS_MNEMONIC_JMP) &&
		    is_end(text + at + d.length, len - at - d.length,
			addr + at + d.length))
			return (at + d.length);
	}
	return (len);
}

size_t
arch_untold_walker(const uint8_t *text, size_t len, uint64_t addr)
{
	const size_t made = 4;	/* bytes of a prologue */
	struct arch_frame f = { .reg = ARCH_FP, .off = SAVED, .plain = true };
	struct arch_code c = { .frames = &f, .nframes = 1 };
	size_t at, next;

	for (at = next_prologue(text, len, 0); at < len; at = next) {
		next = next_prologue(text, len, at + made);
		c.bytes = text + at + made;
		c.addr = f.addr = addr + at + made;
		c.avail = next - at - made;
		c.size = length_of(c.bytes, c.avail, c.addr);
		if (arch_walks(&c))
			return (at);
	}
	return (len);
}
#endif
