/* SPDX-License-Identifier: ISC */
/* Functions that are named by where they are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"

/* The whole of s as a number, decimal or with 0x. */
static bool
number(const char *s, uint64_t *n)
{
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*n = strtoull(s, &end, s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ?
	    16 : 10);
	return *end == '\0' && errno == 0;
}

bool
address_is_one(const char *s)
{
	const char *plus = strrchr(s, '+');
	uint64_t n;

	if (plus != NULL)
		return plus != s && number(plus + 1, &n);
	return s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && number(s, &n);
}

static const struct module *
by_number(const struct process *p, uint64_t n, uint64_t *addr)
{
	const struct module *m;
	size_t i;

	for (i = 0; i < p->nmodules; i++) {
		m = &p->modules[i];
		if (m->binary->state != BINARY_READY || n < m->base ||
		    n >= m->end)
			continue;
		*addr = n - module_bias(m);
		return m;
	}
	/* as a disassembler shows it */
	m = p->nmodules > 0 && p->modules[0].exe ? &p->modules[0] : NULL;
	if (m == NULL || m->binary->state != BINARY_READY ||
	    n >= m->end - m->base)
		return NULL;
	*addr = n;
	return m;
}

static const struct module *
by_function(const struct process *p, const char *name, size_t len,
    uint64_t off, uint64_t *addr)
{
	const struct module *m;
	const struct symindex *ix;
	const char *s;
	uint32_t f;
	size_t i;

	for (i = 0; i < p->nmodules; i++) {
		m = &p->modules[i];
		ix = &m->binary->ix;
		if (m->binary->state != BINARY_READY)
			continue;
		for (f = 0; f < ix->header->nfuncs; f++) {
			s = symindex_str(ix, ix->funcs[f].name);
			if (ix->funcs[f].addr == 0 ||
			    strncmp(s, name, len) != 0 || s[len] != '\0')
				continue;
			*addr = ix->funcs[f].addr + off;
			return m;
		}
	}
	return NULL;
}

const struct module *
address_find(const struct process *p, const char *s, uint64_t *addr)
{
	const char *plus = strrchr(s, '+'), *name;
	size_t len = plus == NULL ? 0 : (size_t)(plus - s), i;
	const struct module *m;
	uint64_t n = 0;

	if (!number(plus == NULL ? s : plus + 1, &n))
		return NULL;
	if (plus == NULL)
		return by_number(p, n, addr);
	for (i = 0; i < p->nmodules; i++) {
		m = &p->modules[i];
		name = binary_name(m->binary);
		if (m->binary->state == BINARY_READY &&
		    strncmp(name, s, len) == 0 && name[len] == '\0') {
			*addr = m->base + n - module_bias(m);
			return m;
		}
	}
	return by_function(p, s, len, n, addr);
}
