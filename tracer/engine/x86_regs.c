/* SPDX-License-Identifier: ISC */
/* x86-64: registers, the clock, system calls and traps. */
#if defined(__x86_64__)
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "arch.h"

#define JUMP		0xe9
#define NOP		0x90

bool
arch_runs(uint16_t machine)
{
	return (machine == EM_X86_64);
}

uint64_t
arch_clock(void)
{
	return (__builtin_ia32_rdtsc());
}

uint8_t
arch_arg(uint32_t n)
{
	/* rdi, rsi, rdx, rcx, r8, r9 */
	static const uint8_t regs[ARCH_ARGS] = { 5, 4, 1, 2, 8, 9 };

	return (regs[n % ARCH_ARGS]);
}

uint8_t
arch_result(void)
{
	return (0);
}

/* --- registers ------------------------------------------------------------ */

uint64_t
arch_pc(const struct arch_regs *r)
{
	return (r->raw.rip);
}

void
arch_set_pc(struct arch_regs *r, uint64_t pc)
{
	r->raw.rip = pc;
}

uint64_t
arch_sp(const struct arch_regs *r)
{
	return (r->raw.rsp);
}

uint64_t
arch_state(const struct arch_regs *r)
{
	return (r->raw.gs_base);
}

void
arch_set_state(struct arch_regs *r, uint64_t state)
{
	r->raw.gs_base = state;
}

uint64_t
arch_tls(const struct arch_regs *r)
{
	return (r->raw.fs_base);
}

void
arch_call(struct arch_regs *r, long nr, const uint64_t a[6], uint64_t gadget)
{
	r->raw.rax = (unsigned long long)nr;
	r->raw.rdi = a[0];
	r->raw.rsi = a[1];
	r->raw.rdx = a[2];
	r->raw.r10 = a[3];
	r->raw.r8 = a[4];
	r->raw.r9 = a[5];
	r->raw.rip = gadget;
	/* or the kernel goes on with the call that was interrupted */
	r->raw.orig_rax = (unsigned long long)-1;
}

int64_t
arch_returned(const struct arch_regs *r)
{
	return ((int64_t)r->raw.rax);
}

void
arch_set_clock(struct arch_regs *r, uint64_t ticks)
{
	r->raw.rax = ticks & 0xffffffff;
	r->raw.rdx = ticks >> 32;
}

const char *
arch_register(const struct arch_regs *r, uint32_t n, uint64_t *value)
{
#define REG(name)	{ #name, offsetof(struct user_regs_struct, name) }
	/* in DWARF's order, and two that it has no numbers for */
	static const struct {
		const char *name;
		size_t	 at;
	} regs[] = { REG(rax), REG(rdx), REG(rcx), REG(rbx), REG(rsi),
		REG(rdi), REG(rbp), REG(rsp), REG(r8), REG(r9), REG(r10),
		REG(r11), REG(r12), REG(r13), REG(r14), REG(r15), REG(rip),
		REG(eflags) };
#undef REG

	if (n >= sizeof(regs) / sizeof(regs[0]))
		return (NULL);
	memcpy(value, (const char *)&r->raw + regs[n].at, sizeof(*value));
	return (regs[n].name);
}

/* --- instructions --------------------------------------------------------- */

void
arch_trap(uint8_t *out)
{
	*out = 0xcc;
}

uint64_t
arch_trapped(const struct arch_regs *r)
{
	return (r->raw.rip - ARCH_TRAP);
}

void
arch_gadget(uint8_t *out)
{
	static const uint8_t insns[ARCH_GADGET] = { 0x0f, 0x05, 0xcc };

	memcpy(out, insns, sizeof(insns));
}

uint64_t
arch_gadget_end(uint64_t gadget)
{
	return (gadget + ARCH_GADGET - ARCH_TRAP);
}

bool
arch_is_jump(const uint8_t *code)
{
	return (code[0] == JUMP);
}

bool
arch_is_goexit(const struct arch_code *c)
{
	return (c->avail > 0 && c->bytes[0] == NOP);
}
#endif
