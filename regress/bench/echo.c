/* SPDX-License-Identifier: ISC */
/*
 * Baseline for requests: one process, one epoll, no work.  Each line is
 * answered with a line of SIZE bytes.  usage: echo SIZE; prints its port.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loopback.h"

#define BATCH	(64 * 1024)

struct conn {
	int	 fd;
	size_t	 owed;			/* bytes of answers */
	bool	 blocked;		/* reading is off until it drains */
};

static int	 epoll_fd;
static size_t	 answer_len;
static char	*answers;		/* whole answers, BATCH or one */
static size_t	 answers_len;

static void
fill_answers(void)
{
	size_t i, n = BATCH / answer_len;

	if (n == 0)
		n = 1;
	answers_len = n * answer_len;
	if ((answers = malloc(answers_len)) == NULL)
		err(1, "answers");
	memset(answers, 'x', answers_len);
	for (i = 1; i <= n; i++)
		answers[i * answer_len - 1] = '\n';
}

static void
watch(struct conn *c, int op, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = c };

	if (epoll_ctl(epoll_fd, op, c->fd, &ev) == -1)
		err(1, "epoll_ctl");
}

static void
drop(struct conn *c)
{
	close(c->fd);
	free(c);
}

/* Owed bytes start where the last answer was cut. */
static int
pay(struct conn *c)
{
	size_t at, len;
	ssize_t n;

	while (c->owed > 0) {
		at = (answer_len - c->owed % answer_len) % answer_len;
		len = answers_len - at;
		if (len > c->owed)
			len = c->owed;
		n = send(c->fd, answers + at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1)
			return -1;
		c->owed -= (size_t)n;
	}
	if (c->blocked != (c->owed > 0)) {
		c->blocked = c->owed > 0;
		watch(c, EPOLL_CTL_MOD, c->blocked ? EPOLLOUT : EPOLLIN);
	}
	return 0;
}

static void
serve(struct conn *c)
{
	char buf[16 * 1024], *p;
	ssize_t n;

	if (!c->blocked) {
		n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n <= 0) {
			drop(c);
			return;
		}
		for (p = buf; (p = memchr(p, '\n',
		    (size_t)(buf + n - p))) != NULL; p++)
			c->owed += answer_len;
	}
	if (pay(c) == -1)
		drop(c);
}

static void
welcome(int listen_fd)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		err(1, "connection");
	c->fd = loopback_accept(listen_fd);
	watch(c, EPOLL_CTL_ADD, EPOLLIN);
}

int
main(int argc, char **argv)
{
	struct epoll_event ev[64];
	struct conn door = { .owed = 0 };
	int i, n;

	if (argc != 2 || atoi(argv[1]) < 1)
		errx(2, "usage: echo SIZE");
	answer_len = (size_t)atoi(argv[1]);
	fill_answers();
	if ((epoll_fd = epoll_create1(EPOLL_CLOEXEC)) == -1)
		err(1, "epoll");
	door.fd = loopback_listen();
	watch(&door, EPOLL_CTL_ADD, EPOLLIN);
	for (;;) {
		n = epoll_wait(epoll_fd, ev, 64, -1);
		for (i = 0; i < n; i++) {
			if (ev[i].data.ptr == &door)
				welcome(door.fd);
			else
				serve(ev[i].data.ptr);
		}
	}
}
