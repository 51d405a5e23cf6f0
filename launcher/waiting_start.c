/* SPDX-License-Identifier: ISC */
/* Orders that wait until a cgroup is free. */
#include <sys/queue.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "waiting_start.h"

#define WAITING_MOST	64
#define WAITING_OWN	8	/* per owner, who may keep leaves busy */
#define AGAIN_MS	5
#define WAIT_MS		1000	/* on a host that has no time for the dying */

struct waiting_start {
	TAILQ_ENTRY(waiting_start) all;
	struct msg	 m;
	void		*payload;	/* with variables; wiped */
	size_t		 len;
	uid_t		 owner;
	uint64_t	 until_ms;
};

static TAILQ_HEAD(waiting_starts, waiting_start) waiting_starts =
    TAILQ_HEAD_INITIALIZER(waiting_starts);
static struct loop_timer timer;
static struct waiting_start *tried;	/* its handler runs */

static void	on_timer(void *);

static bool
keep(struct waiting_start *h, const void *payload, size_t len)
{
	h->payload = malloc(len);
	h->len = len;
	if (h->payload != NULL)
		memcpy(h->payload, payload, len);
	return h->payload != NULL;
}

static void
forget(void *payload, size_t len)
{
	if (payload != NULL)
		explicit_bzero(payload, len);
	free(payload);
}

static bool
is_room(uid_t owner)
{
	struct waiting_start *h;
	size_t n = 0, own = 0;

	TAILQ_FOREACH(h, &waiting_starts, all) {
		n++;
		own += h->owner == owner;
	}
	return n < WAITING_MOST && own < WAITING_OWN;
}

static struct waiting_start *
waiting_start_new(const struct msg *m, uid_t owner)
{
	struct waiting_start *h = is_room(owner) ? calloc(1, sizeof(*h)) : NULL;

	if (h == NULL)
		return NULL;
	h->m = *m;
	h->owner = owner;
	h->until_ms = loop_now_ms() + WAIT_MS;
	if (m->fd == -1 || (h->m.fd = fcntl(m->fd,
	    F_DUPFD_CLOEXEC, 0)) != -1)
		return h;
	free(h);
	return NULL;
}

static void
waiting_start_free(struct waiting_start *h)
{
	if (h->m.fd != -1)
		close(h->m.fd);
	forget(h->payload, h->len);
	free(h);
}

/* It was tried once more, and may wait once more. */
static bool
again(struct waiting_start *h, const void *payload, size_t len)
{
	bool waits = loop_now_ms() < h->until_ms && keep(h, payload, len);

	errno = EBUSY;
	return waits;
}

bool
waiting_start_add(const struct msg *m, uid_t owner)
{
	struct waiting_start *h;

	if (tried != NULL)
		return again(tried, m->next, m->left);
	h = waiting_start_new(m, owner);
	if (h != NULL && keep(h, m->next, m->left)) {
		TAILQ_INSERT_TAIL(&waiting_starts, h, all);
		if (timer.slot == 0)
			loop_timer_set(&timer, AGAIN_MS, on_timer, NULL);
		return true;
	}
	if (h != NULL)
		waiting_start_free(h);
	errno = EBUSY;
	return false;
}

/* The handler wipes what it was given. */
static void
try(struct waiting_start *h)
{
	void *payload = h->payload;
	size_t len = h->len;
	struct msg m = h->m;

	m.next = payload;
	m.left = len;
	h->payload = NULL;
	tried = h;
	(void)msg_handlers[m.hdr.type](&m);
	tried = NULL;
	forget(payload, len);
	if (h->payload != NULL)
		return;
	TAILQ_REMOVE(&waiting_starts, h, all);
	waiting_start_free(h);
}

static void
on_timer(void *arg)
{
	struct waiting_start *h, *next;

	(void)arg;
	for (h = TAILQ_FIRST(&waiting_starts); h != NULL; h = next) {
		next = TAILQ_NEXT(h, all);
		try(h);
	}
	if (!TAILQ_EMPTY(&waiting_starts))
		loop_timer_set(&timer, AGAIN_MS, on_timer, NULL);
}
