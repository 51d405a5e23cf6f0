/* SPDX-License-Identifier: ISC */
/* The set of listeners: received as a whole, looked up by local address. */
#include <string.h>

#include "rules.h"
#include "wire/proto.h"

/* every listener of a configuration, both families */
#define RULES_MAX	66

struct rules {
	struct rule	v[RULES_MAX];
	size_t		n;
};

static struct rules	coming, in_force;

int
rules_add(uint32_t flags, uint32_t uid, const void *sa, size_t len)
{
	struct rule *r;

	if (coming.n == RULES_MAX)
		return -1;
	r = &coming.v[coming.n];
	if (endpoint_set(&r->at, sa, len) == -1)
		return -1;
	r->flags = flags;
	r->uid = uid;
	coming.n++;
	return 0;
}

void
rules_commit(void)
{
	in_force = coming;
	coming.n = 0;
}

/* How well a rule fits: 0 = not at all. */
static int
fit(const struct endpoint *at, const struct endpoint *local)
{
	if (at->port != local->port)
		return 0;
	if (endpoint_same_addr(at, local))
		return 3;
	if (!endpoint_is_any(at))
		return 0;
	/* a listener on [::] takes IPv4 too, where none on 0.0.0.0 does */
	if (at->family == local->family)
		return 2;
	return at->family == AF_INET6 ? 1 : 0;
}

const struct rule *
rules_find(const struct endpoint *local)
{
	const struct rule *best = NULL;
	int best_fit = 0, f;
	size_t i;

	for (i = 0; i < in_force.n; i++) {
		f = fit(&in_force.v[i].at, local);
		if (f > best_fit) {
			best_fit = f;
			best = &in_force.v[i];
		}
	}
	return best;
}

bool
rules_name(uint32_t uid)
{
	size_t i;

	for (i = 0; i < in_force.n; i++)
		if ((in_force.v[i].flags & LISTENER_AUTH_NONE) != 0 &&
		    in_force.v[i].uid == uid)
			return true;
	return false;
}
