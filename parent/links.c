/* SPDX-License-Identifier: ISC */
/* Links between roles, the parent's aside: each is a pair of sockets. */
#include <unistd.h>

#include "base/log.h"
#include "parent.h"

/*
 * Until a link that two roles have lost, while both of them live, is made
 * again: so long that what made it break can pass, and that a role which has
 * been taken over cannot keep others busy with it.
 */
#define AGAIN_MS	100

static struct link {
	enum role	 a, b;
	uint32_t	 generation;
	struct loop_timer again;
} links[] = {
	/* first, as idproc needs it to say who is a client of netproc's */
	{ .a = ROLE_IDPROC, .b = ROLE_ACCTPROC },
	{ .a = ROLE_NETPROC, .b = ROLE_SPAWNER },
	{ .a = ROLE_NETPROC, .b = ROLE_IDPROC },
	{ .a = ROLE_IDPROC, .b = ROLE_SPAWNER },
	{ .a = ROLE_SPAWNER, .b = ROLE_LAUNCHER },
	{ .a = ROLE_TLSPROC, .b = ROLE_IDPROC },
	{ .a = ROLE_TLSPROC, .b = ROLE_NETPROC },
};
#define NLINKS	(sizeof(links) / sizeof(links[0]))

int	parent_on_link_lost(struct msg *);

static bool
links_give(enum role to, enum role peer, uint32_t generation, int fd)
{
	struct msg_out *o = msg_new(MSG_PEER, NULL, 0, 0);

	msg_put_u32(o, peer);
	msg_put_u32(o, generation);
	return child_send(to, o, fd);
}

static void	link_again(void *);

static void
link_up(struct link *l)
{
	int fds[2];

	loop_timer_unset(&l->again);
	/* who is not there is introduced to everybody when it starts */
	if (d.stopping || !child_runs(l->a) || !child_runs(l->b))
		return;
	if (chan_pair(fds) == -1) {
		log_warn("cannot connect %s and %s", role_name(l->a),
		    role_name(l->b));
		loop_timer_set(&l->again, AGAIN_MS, link_again, l);
		return;
	}
	l->generation++;
	(void)links_give(l->a, l->b, l->generation, fds[0]);
	(void)links_give(l->b, l->a, l->generation, fds[1]);
}

static void
link_again(void *arg)
{
	struct link *l = arg;

	if (child_runs(l->a) && child_runs(l->b) && !d.stopping)
		log_warnx("%s and %s have lost each other; they are connected "
		    "again", role_name(l->a), role_name(l->b));
	link_up(l);
}

void
links_make(enum role role)
{
	size_t i;

	for (i = 0; i < NLINKS; i++)
		if (links[i].a == role || links[i].b == role)
			link_up(&links[i]);
}

void
links_end(enum role role)
{
	struct link *l;

	for (l = links; l < links + NLINKS; l++)
		if (l->a == role || l->b == role)
			l->generation++;
}

static struct link *
find(enum role one, uint32_t other, uint32_t generation)
{
	struct link *l;

	for (l = links; l < links + NLINKS; l++)
		if (((l->a == one && l->b == other) ||
		    (l->b == one && l->a == other)) &&
		    l->generation == generation && generation != 0)
			return l;
	return NULL;
}

bool
link_is(enum role one, uint32_t other, uint32_t generation)
{
	return find(one, other, generation) != NULL;
}

/*
 * Mostly because the other one has died, and then that is made again sooner
 * or later than this; else something made the link break that blames nobody.
 */
int
parent_on_link_lost(struct msg *m)
{
	uint32_t other = msg_get_u32(m), generation = msg_get_u32(m);
	struct link *l = find(m->chan->peer, other, generation);

	if (msg_end(m) == -1)
		return -1;
	if (l != NULL && l->again.slot == 0)
		loop_timer_set(&l->again, AGAIN_MS, link_again, l);
	return 0;
}
