/* SPDX-License-Identifier: ISC */
/* The launcher's end of the observer. */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "launcher.h"
#include "launcher/base/child.h"
#include "launcher/base/facts.h"
#include "launcher/observer/observer.h"
#include "observe.h"
#include "wire/fdkind.h"
#include "wire/fdpass.h"
#include "wire/role.h"

/* How long the spawner waits for an observer that does not read. */
#define STUCK_MS	10000
/* Answers in one turn of the loop: starts and signals do not wait for more. */
#define READ_BURST	32

static int		 observer_fd = -1, pidfd = -1;
static struct loop_io	 io = LOOP_IO_INIT;
static struct loop_timer stuck;

static void
end_observer(void)
{
	if (observer_fd == -1)
		return;
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	loop_del(&io);
	loop_timer_unset(&stuck);
	close(observer_fd);
	close(pidfd);
	observer_fd = pidfd = -1;
}

/* Answers are lost: by another link the spawner learns which. */
static void
lose(void *why)
{
	log_warnx("the observer %s; starting another", (const char *)why);
	end_observer();
	if (!chan_is_open(&spawner_chan))
		return;
	chan_close(&spawner_chan);
	spawner_chan.gone(&spawner_chan, NULL);
}

/*
 * The spawner will read it as the launcher's, and would end the launcher for
 * what is not as the message table has it.
 */
static bool
is_answer(const struct msg_hdr *h, size_t len, int fd)
{
	return (h->type == MSG_SAMPLED || h->type == MSG_FOUND ||
	    h->type == MSG_NOT_FOUND || h->type == MSG_USER_USED ||
	    h->type == MSG_PROBED) && len >= msg_rows[h->type].min &&
	    len <= msg_rows[h->type].max &&
	    fdkind_check(msg_rows[h->type].fd, fd) == NULL;
}

/* 1 = passed on, or facts; 0 = there is none yet; -1 = no observer any more. */
static int
take_answer(int flags)
{
	static uint8_t payload[MSG_PAYLOAD_MAX];
	struct msg_hdr h = { .type = MSG_NONE };
	struct iovec iov[] = { { &h, sizeof(h) }, { payload, sizeof(payload) } };
	int fds[FDPASS_MAX];
	size_t n;
	ssize_t len = fdpass_recv(observer_fd, iov, 2, fds, &n, NULL, flags);
	struct msg_out *o;

	if (len == -1 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len == (ssize_t)(sizeof(h) + sizeof(facts)) && n == 0 &&
	    h.type == MSG_NONE) {
		memcpy(&facts, payload, sizeof(facts));
		return 1;
	}
	if (len < (ssize_t)sizeof(h) || n > 1 || !is_answer(&h, (size_t)len -
	    sizeof(h), n == 1 ? fds[0] : -1)) {
		while (n > 0)
			close(fds[--n]);
		return -1;
	}
	o = msg_new(h.type, &h.session, h.conn, h.request);
	msg_put_bytes(o, payload, (size_t)len - sizeof(h));
	(void)chan_send(&spawner_chan, o, n == 1 ? fds[0] : -1);
	return 1;
}

static void
on_event(uint32_t events, void *arg)
{
	int r = 1, left = READ_BURST;

	(void)arg;
	if (events & EPOLLOUT) {
		loop_timer_unset(&stuck);
		(void)loop_mod(&io, EPOLLIN);
		chan_pause(&spawner_chan, false);
	}
	while (observer_fd != -1 && r == 1 && left-- > 0)
		r = take_answer(MSG_DONTWAIT);
	if (r == -1)
		lose((void *)(uintptr_t)"has ended");
}

static bool
make_observer(void)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		return false;
	pid = child_clone(0, -1, &pidfd);
	if (pid == 0) {
		child_begin(pair[1], (const int[2]){ -1, -1 });
		observer_main();
	}
	close(pair[1]);
	observer_fd = pair[0];
	if (pid != -1 &&
	    loop_add(&io, observer_fd, EPOLLIN, on_event, NULL) == 0)
		return true;
	end_observer();
	return false;
}

bool
observe_start(void)
{
	int r = 0;

	if (!make_observer())
		return false;
	while (r == 0)
		r = take_answer(0);
	errno = ECHILD;
	return r == 1;
}

static bool
send_on(const struct msg_hdr *h, const void *payload, size_t len, int fd)
{
	struct iovec iov[] = { { (void *)(uintptr_t)h, sizeof(*h) },
	    { (void *)(uintptr_t)payload, len } };
	struct pollfd p = { .fd = observer_fd, .events = POLLOUT };

	if (fdpass_send(observer_fd, iov, 2, &fd, fd != -1,
	    MSG_DONTWAIT) == -1)
		return false;
	/* long before there is no room for a question */
	if (poll_again(&p, 1, 0) == 1)
		return true;
	chan_pause(&spawner_chan, true);
	loop_timer_set(&stuck, STUCK_MS, lose,
	    (void *)(uintptr_t)"does not read");
	return loop_mod(&io, EPOLLIN | EPOLLOUT) == 0;
}

void
observe_ask(const struct msg *m)
{
	if ((observer_fd == -1 && !make_observer()) ||
	    !send_on(&m->hdr, m->next, m->left, m->fd))
		lose((void *)(uintptr_t)"cannot be asked");
}

void
observe_settings(void)
{
	const struct msg_hdr h = { .type = MSG_SETTINGS };

	if (observer_fd != -1 && !send_on(&h, &settings, sizeof(settings), -1))
		lose((void *)(uintptr_t)"cannot be told the settings");
}
