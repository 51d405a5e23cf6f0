/* SPDX-License-Identifier: ISC */
/* Processors that the tracer does not know. */
#if !defined(__x86_64__)
#include <errno.h>
#include <time.h>

#include "arch.h"

const char *
arch_supported(void)
{
	return ("tracing is not supported on this processor: it works on "
	    ARCH_NAMES " alone");
}

bool
arch_reads_bases(void)
{
	return (false);
}

bool
arch_runs(uint16_t machine)
{
	(void)machine;
	return (false);
}

uint64_t
arch_clock(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

uint8_t
arch_arg(uint32_t n)
{
	return ((uint8_t)n);
}

uint8_t
arch_result(void)
{
	return (0);
}

uint64_t
arch_pc(const struct arch_regs *r)
{
	(void)r;
	return (0);
}

void
arch_set_pc(struct arch_regs *r, uint64_t pc)
{
	(void)r;
	(void)pc;
}

uint64_t
arch_sp(const struct arch_regs *r)
{
	(void)r;
	return (0);
}

uint64_t
arch_state(const struct arch_regs *r)
{
	(void)r;
	return (0);
}

void
arch_set_state(struct arch_regs *r, uint64_t state)
{
	(void)r;
	(void)state;
}

uint64_t
arch_tls(const struct arch_regs *r)
{
	(void)r;
	return (0);
}

void
arch_call(struct arch_regs *r, long nr, const uint64_t a[6], uint64_t gadget)
{
	(void)r;
	(void)nr;
	(void)a;
	(void)gadget;
}

int64_t
arch_returned(const struct arch_regs *r)
{
	(void)r;
	return (-ENOSYS);
}

void
arch_set_clock(struct arch_regs *r, uint64_t ticks)
{
	(void)r;
	(void)ticks;
}

const char *
arch_register(const struct arch_regs *r, uint32_t n, uint64_t *value)
{
	(void)r;
	(void)n;
	(void)value;
	return (NULL);
}

void
arch_trap(uint8_t *out)
{
	(void)out;
}

uint64_t
arch_trapped(const struct arch_regs *r)
{
	(void)r;
	return (0);
}

void
arch_gadget(uint8_t *out)
{
	(void)out;
}

uint64_t
arch_gadget_end(uint64_t gadget)
{
	return (gadget);
}

const uint8_t *
arch_agent(size_t *len)
{
	*len = 0;
	return (NULL);
}

bool
arch_plan(const struct arch_code *c, struct arch_plan *p, struct arch_jumps *j)
{
	(void)c;
	(void)j;
	p->why_not = arch_supported();
	return (false);
}

const char *
arch_stub(const struct arch_code *c, struct arch_plan *p, struct arch_stub *s,
    uint8_t *out)
{
	(void)c;
	(void)p;
	(void)s;
	(void)out;
	return (arch_supported());
}

void
arch_head(uint64_t agent, uint8_t out[ARCH_HEAD])
{
	(void)agent;
	(void)out;
}

void
arch_jump(uint64_t from, uint64_t to, uint8_t *out)
{
	(void)from;
	(void)to;
	(void)out;
}

bool
arch_is_jump(const uint8_t *code)
{
	(void)code;
	return (false);
}

bool
arch_is_goexit(const struct arch_code *c)
{
	(void)c;
	return (false);
}

uint64_t
arch_moved(const struct arch_code *c, const struct arch_plan *p,
    const struct arch_stub *s, uint64_t pc)
{
	(void)c;
	(void)p;
	(void)s;
	return (pc);
}

bool
arch_walks(const struct arch_code *c)
{
	(void)c;
	return (false);
}

size_t
arch_untold_walker(const uint8_t *text, size_t len, uint64_t addr)
{
	(void)text;
	(void)addr;
	return (len);
}

bool
arch_may_walk(const uint8_t *text, size_t len)
{
	(void)text;
	(void)len;
	return (false);
}

bool
arch_throws(const uint8_t *text, size_t len)
{
	(void)text;
	(void)len;
	return (false);
}
#else
/* nothing: ISO C wants a declaration */
typedef int arch_none_unused;
#endif
