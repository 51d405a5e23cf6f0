/* SPDX-License-Identifier: ISC */
/* Processors that the tracer does not know. */
#if !defined(__x86_64__)
#include "arch.h"

const char *
arch_supported(void)
{
	return ("tracing is not supported on this processor: it works on "
	    "x86-64 alone");
}

uint8_t
arch_arg(uint32_t n)
{
	return ((uint8_t)n);
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
