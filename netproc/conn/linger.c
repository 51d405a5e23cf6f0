/* SPDX-License-Identifier: ISC */
/* Sockets whose clients still send; see the header. */
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/loop.h"
#include "linger.h"
#include "wire/accept.h"

/* No other limit counts these connections: the oldest makes way. */
#define LINGER_MOST	32
#define LINGER_MS	5000
#define LINGER_BYTES	((size_t)64 << 20)
#define PIECE		((size_t)64 * 1024)

struct late {
	TAILQ_ENTRY(late)	 all;
	struct loop_io		 io;
	struct loop_timer	 timer;
	int			 fd;
	size_t			 left;
};

static TAILQ_HEAD(lates, late) lates = TAILQ_HEAD_INITIALIZER(lates);
static size_t		 nlates;

static void
end(struct late *l)
{
	loop_del(&l->io);
	loop_timer_unset(&l->timer);
	TAILQ_REMOVE(&lates, l, all);
	nlates--;
	close(l->fd);
	free(l);
	accept_resume();
}

static void
on_timer(void *arg)
{
	end(arg);
}

/* false = it is over: by its end, by an error, or because it is too much. */
static bool
read_on(struct late *l)
{
	static char nothing[PIECE];
	ssize_t n = recv(l->fd, nothing, sizeof(nothing), MSG_DONTWAIT);

	if (n == -1)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || (size_t)n >= l->left)
		return false;
	l->left -= (size_t)n;
	return true;
}

static void
on_io(uint32_t events, void *arg)
{
	if (events & EPOLLERR || !read_on(arg))
		end(arg);
}

void
linger_begin(int fd)
{
	struct late *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return;
	l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (l->fd == -1 || shutdown(l->fd, SHUT_WR) == -1 ||
	    loop_add(&l->io, l->fd, EPOLLIN, on_io, l) == -1) {
		if (l->fd != -1)
			close(l->fd);
		free(l);
		return;
	}
	l->left = LINGER_BYTES;
	loop_timer_set(&l->timer, LINGER_MS, on_timer, l);
	TAILQ_INSERT_TAIL(&lates, l, all);
	if (++nlates > LINGER_MOST)
		end(TAILQ_FIRST(&lates));
}
