/* SPDX-License-Identifier: ISC */
/*
 * The channels to the other roles, what is called when one goes, and small
 * things about fds.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "peers.h"
#include "wire/logline.h"
#include "wire/role.h"

/* Bytes in the logger's queue: more than a busy second's audit lines. */
#define LOG_BACKLOG	(1024 * 1024)
#define LIMIT_MS	10
/*
 * A log that takes less than so much in so long is not waited for: a logger
 * that hangs, or was taken over, must not stop users' commands.
 */
#define LEAST_BYTES	(16 * 1024)
#define LEAST_TURNS	32

struct channel	 netproc_chan, idproc_chan, launcher_chan;
bool		 shutting_down;

static struct loop_timer netproc_timer, idproc_timer, launcher_timer;
static struct loop_timer limit_timer;

uint64_t
next_serial(void)
{
	static uint64_t serial;

	return ++serial;
}

int
fd_copy(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void
fd_close(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

/* The backlog so many turns of the timer ago. */
static size_t		 backlog_was;
static unsigned int	 turns;
static bool		 log_is_dead;

static void
on_backlog(void *arg)
{
	size_t backlog = logline_backlog();
	bool late = backlog > LOG_BACKLOG / 2;

	(void)arg;
	if (++turns == LEAST_TURNS) {
		log_is_dead = backlog + LEAST_BYTES > backlog_was;
		backlog_was = backlog;
		turns = 0;
	}
	chan_pause(&netproc_chan, late && !log_is_dead);
	if (late)
		loop_timer_set(&limit_timer, LIMIT_MS, on_backlog, NULL);
}

void
peers_limit(void)
{
	if (limit_timer.slot != 0 || logline_backlog() <= LOG_BACKLOG)
		return;
	backlog_was = logline_backlog();
	turns = 0;
	log_is_dead = false;
	on_backlog(NULL);
}

static const struct peers_hooks *hooks;
static bool netproc_broke;	/* the rules, that is */

static void
drop_netproc(void *arg)
{
	(void)arg;
	hooks->netproc_lost(netproc_broke);
	netproc_broke = false;
}

static void
drop_idproc(void *arg)
{
	(void)arg;
	hooks->idproc_lost();
}

static void
drop_launcher(void *arg)
{
	(void)arg;
	hooks->launcher_lost();
}

/* Timers that drop what belonged to a role: not inside a handler. */
static const struct peer {
	enum role		 role;
	struct channel		*chan;
	struct loop_timer	*timer;
	loop_timer_fn		 drop;
} peers[] = {
	{ ROLE_NETPROC, &netproc_chan, &netproc_timer, drop_netproc },
	{ ROLE_IDPROC, &idproc_chan, &idproc_timer, drop_idproc },
	{ ROLE_LAUNCHER, &launcher_chan, &launcher_timer, drop_launcher },
};
#define NPEERS	(sizeof(peers) / sizeof(peers[0]))

static const struct peer *
peer_find(enum role role)
{
	size_t i;

	for (i = 0; i < NPEERS; i++)
		if (peers[i].role == role)
			return &peers[i];
	return NULL;
}

/*
 * A send inside a handler may end here, so the sessions that the handler
 * holds must stay: the rest is done when the loop comes round.
 */
static void
on_gone(struct channel *c, const char *why)
{
	const struct peer *p = peer_find(c->peer);

	role_peer_gone(c, why);
	netproc_broke |= why != NULL && c == &netproc_chan;
	if (p != NULL)
		loop_timer_set(p->timer, 0, p->drop, NULL);
}

void
netproc_cut(const char *why)
{
	if (!chan_is_open(&netproc_chan))
		return;
	log_warnx("netproc is to be replaced: %s", why);
	chan_close(&netproc_chan);
	on_gone(&netproc_chan, why);
}

void
peer_replace(enum role role, int fd, uint32_t gen)
{
	const struct peer *p = peer_find(role);

	if (p == NULL) {
		fd_close(&fd);
		return;
	}
	chan_close(p->chan);
	loop_timer_unset(p->timer);
	p->drop(NULL);
	if (chan_open(p->chan, fd, gen) == -1)
		role_peer_gone(p->chan, NULL);
}

void
peers_init(const struct peers_hooks *h)
{
	size_t i;

	hooks = h;
	for (i = 0; i < NPEERS; i++)
		chan_init(peers[i].chan, ROLE_SPAWNER, peers[i].role, on_gone,
		    h->allow);
}
