/* SPDX-License-Identifier: ISC */
/* Pacing: see the header.  Pure, so that time can be made up by tests. */
#include <string.h>

#include "term_flow.h"

void
term_flow_init(struct term_flow *p, size_t ring)
{
	memset(p, 0, sizeof(*p));
	/* what has been promised to somebody must not be overwritten */
	p->window = ring / 4 < FLOW_WINDOW ? ring / 4 : FLOW_WINDOW;
	p->limit = FLOW_UNLIMITED;
}

void
term_flow_join(struct flow_client *c, uint64_t now_us)
{
	c->held_us = 0;
	c->seen = c->cursor;
	c->moved_us = now_us;
	c->lagging = c->stalled = c->holding = c->at_end = false;
}

/* Charges the time since the last look by what was found then. */
static void
charge(struct flow_client *c, uint64_t passed_us)
{
	uint64_t back = passed_us / FLOW_LEAK;

	if (!c->holding) {
		c->held_us = c->held_us > back ? c->held_us - back : 0;
		return;
	}
	c->held_us += passed_us;
	if (c->held_us >= FLOW_BUDGET_US) {
		c->held_us = FLOW_BUDGET_US;
		c->lagging = true;
	}
}

static void
look_at(struct flow_client *c, uint64_t total, uint64_t now_us)
{
	/* there was nothing to take until now */
	if (c->cursor != c->seen || c->at_end)
		c->moved_us = now_us;
	c->seen = c->cursor;
	c->at_end = c->cursor >= total;
	c->stalled = now_us - c->moved_us >= FLOW_STALL_US;
	if (c->at_end)
		c->lagging = false;
}

static bool
counts(const struct flow_client *c)
{
	return !c->lagging && !c->stalled;
}

/* FLOW_UNLIMITED when none of them counts. */
static uint64_t
slowest(struct flow_client *const *clients, size_t n, bool slow)
{
	uint64_t low = FLOW_UNLIMITED;
	size_t i;

	for (i = 0; i < n; i++)
		if ((slow ? !clients[i]->stalled : counts(clients[i])) &&
		    clients[i]->cursor < low)
			low = clients[i]->cursor;
	return low;
}

static bool
somebody_waits(struct flow_client *const *clients, size_t n, uint64_t total)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (counts(clients[i]) && clients[i]->cursor >= total)
			return true;
	return false;
}

static void
sooner(uint64_t *again_us, uint64_t us)
{
	if (*again_us == 0 || us < *again_us)
		*again_us = us;
}

/* Marks clients that hold up others, and sets when to look again. */
static void
find_holders(const struct term_flow *p, struct flow_client *const *clients,
    size_t n, uint64_t total, uint64_t *again_us)
{
	bool waits = somebody_waits(clients, n, total);
	struct flow_client *c;
	size_t i;

	*again_us = 0;
	for (i = 0; i < n; i++) {
		c = clients[i];
		c->holding = waits && counts(c) && total > c->cursor &&
		    total - c->cursor >= p->window;
		if (c->holding)
			sooner(again_us, p->now_us + FLOW_BUDGET_US -
			    c->held_us);
		else if (counts(c) && c->cursor < total)
			sooner(again_us, c->moved_us + FLOW_STALL_US);
	}
}

uint64_t
term_flow_look(struct term_flow *p, struct flow_client *const *clients,
    size_t n, uint64_t total, uint64_t now_us, uint64_t *again_us)
{
	uint64_t passed = p->now_us == 0 ? 0 : now_us - p->now_us, low;
	size_t i;

	p->now_us = now_us;
	for (i = 0; i < n; i++) {
		charge(clients[i], passed);
		look_at(clients[i], total, now_us);
	}
	find_holders(p, clients, n, total, again_us);
	low = slowest(clients, n, false);
	/* slow clients without others block the program alone */
	if (low == FLOW_UNLIMITED)
		low = slowest(clients, n, true);
	p->limit = low == FLOW_UNLIMITED ? FLOW_UNLIMITED : low + p->window;
	return p->limit;
}
