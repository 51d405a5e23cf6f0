/* SPDX-License-Identifier: ISC */
/*
 * netproc: the one process that the network can talk to.  It holds every
 * connection of clients, parses what they send, and answers from its copy
 * of the sessions or with the word of the spawner.  It owns no session and
 * no file, and whatever it says of itself nobody believes.
 */
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "netproc/cmd/commands.h"
#include "netproc/cmd/debug_port.h"
#include "netproc/cmd/request.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/feed.h"
#include "netproc/conn/identity.h"
#include "netproc/conn/listener.h"
#include "netproc/mcp/mcp.h"
#include "netproc/term/attach.h"
#include "netproc/term/termmsg.h"
#include "netproc/web/webreq.h"
#include "sysfilter.h"
#include "wire/role.h"

/* For those who are told that we go to hear it, and say good-bye. */
#define FAREWELL_MS	500
#define FAREWELL_POLL_MS 20

static struct loop_io	 signals = LOOP_IO_INIT;
static struct loop_timer farewell;
static uint64_t		 farewell_end_ms;

static void
on_farewell(void *arg)
{
	(void)arg;
	if (conn_count == 0 || loop_now_ms() >= farewell_end_ms)
		_exit(0);
	loop_timer_set(&farewell, FAREWELL_POLL_MS, on_farewell, NULL);
}

/* A client without a WebSocket gets no message: its connection just ends. */
static void
take_leave(struct conn *c, void *arg)
{
	(void)arg;
	if (!ws_farewell(c))
		c->dead = true;
	conn_run(c);
}

static void
go(void)
{
	if (farewell_end_ms != 0)
		return;
	farewell_end_ms = loop_now_ms() + FAREWELL_MS;
	listener_end();
	conn_each(take_leave, NULL);
	on_farewell(NULL);
}

static void
on_signal(uint32_t events, void *arg)
{
	(void)events;
	(void)arg;
	loop_del(&signals);
	go();
}

static void
catch_signal(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1 ||
	    (fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1 ||
	    loop_add(&signals, fd, EPOLLIN, on_signal, NULL) == -1)
		fatal("signalfd");
}

static void
prepare(void)
{
	catch_signal();
	/* gmtime_r() would look for the time zone's file at its first call */
	tzset();
	listener_limit();
	request_init();
	termmsg_init();
	ask_init();
	identity_init();
	listener_init();
	command_init();
	debug_init();
	attach_init();
	mcp_init();
	web_req_init();
	feed_init();
}

static void
peer(enum role role, int fd, uint32_t generation)
{
	if (role == ROLE_SPAWNER)
		ask_peer(fd, generation);
	else if (role == ROLE_IDPROC)
		identity_peer(fd, generation);
	else if (role == ROLE_TLSPROC)
		listener_tls_peer(fd, generation);
	else
		close(fd);
}

static const struct role_desc desc = {
	.self = ROLE_NETPROC,
	.prepare = prepare,
	.landlock = true,
	.landlock_level = LANDLOCK_NOTHING,
	/* the limit would hold for the memory files of uploads too */
	.fsize = -1,
	.nproc = 0,
	.filter = &netproc_filter,
	.start = conn_init,
	.peer = peer,
	.settings = listener_limit,
	.shutdown = go,
};

int
main(void)
{
	role_main(&desc);
}
