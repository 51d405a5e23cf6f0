/* SPDX-License-Identifier: ISC */
/*
 * The load: a closed loop over one or many connections.
 * usage: load PORT CONNECTIONS DEPTH COUNT MS REQUEST
 * Keeps DEPTH requests unanswered on each connection, until COUNT answers
 * have come or MS milliseconds have passed (0 = no such limit).  Prints
 * "ready", waits for a line, works, prints JSON, waits for the end of stdin.
 */
#include <sys/epoll.h>
#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loopback.h"
#include "sample.h"

#define BATCH	(64 * 1024)

struct conn {
	int	 fd;
	size_t	 unsent;		/* bytes of requests */
	bool	 wants_out;
};

static int	 epoll_fd;
static char	*requests;		/* whole requests, about BATCH bytes */
static size_t	 requests_len, request_len;
static uint64_t	 sent_requests, answers, answer_bytes;
static uint64_t	 count, deadline;

static void
fill_requests(const char *text)
{
	size_t i, n;

	request_len = strlen(text) + 1;
	n = BATCH / request_len + 1;
	requests_len = n * request_len;
	if ((requests = malloc(requests_len + 1)) == NULL)
		err(1, "requests");
	for (i = 0; i < n; i++)
		(void)snprintf(requests + i * request_len, request_len + 1,
		    "%s\n", text);
}

static void
watch(struct conn *c, int op)
{
	struct epoll_event ev = { .data.ptr = c };

	ev.events = EPOLLIN | (c->wants_out ? EPOLLOUT : 0U);
	if (epoll_ctl(epoll_fd, op, c->fd, &ev) == -1)
		err(1, "epoll_ctl");
}

static void
flush(struct conn *c)
{
	size_t at, len;
	ssize_t n;

	while (c->unsent > 0) {
		at = (request_len - c->unsent % request_len) % request_len;
		len = requests_len - at;
		if (len > c->unsent)
			len = c->unsent;
		n = send(c->fd, requests + at, len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1)
			err(1, "send");
		c->unsent -= (size_t)n;
	}
	if (c->wants_out != (c->unsent > 0)) {
		c->wants_out = c->unsent > 0;
		watch(c, EPOLL_CTL_MOD);
	}
}

static void
ask(struct conn *c, uint64_t n)
{
	if (count != 0 && sent_requests + n > count)
		n = count - sent_requests;
	sent_requests += n;
	c->unsent += n * request_len;
	flush(c);
}

/* Every answer makes room for a request. */
static void
hear(struct conn *c)
{
	char buf[BATCH], *p;
	uint64_t got = 0;
	ssize_t n;

	n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (n == -1 && errno == EAGAIN)
		return;
	if (n == -1)
		err(1, "recv");
	if (n == 0)
		errx(1, "closed after %" PRIu64 " answers", answers);
	for (p = buf; (p = memchr(p, '\n', (size_t)(buf + n - p))) != NULL;
	    p++)
		got++;
	answers += got;
	answer_bytes += (uint64_t)n;
	if (got > 0 && clock_ns() < deadline)
		ask(c, got);
}

static bool
over(void)
{
	if (count != 0 && answers >= count)
		return true;
	return clock_ns() >= deadline;
}

static void
work(struct conn *conns, size_t nconns, uint64_t depth)
{
	struct epoll_event ev[128];
	size_t i;
	int j, n;

	for (i = 0; i < nconns; i++)
		ask(&conns[i], depth);
	while (!over()) {
		n = epoll_wait(epoll_fd, ev, 128, 100);
		for (j = 0; j < n; j++) {
			if (ev[j].events & EPOLLOUT)
				flush(ev[j].data.ptr);
			if (ev[j].events & ~(uint32_t)EPOLLOUT)
				hear(ev[j].data.ptr);
		}
	}
}

/* A first answer on each: the server knows the client before the clock. */
static struct conn *
connect_all(uint16_t port, size_t n)
{
	static struct lines lines;
	struct conn *conns = calloc(n, sizeof(*conns));
	size_t i;

	if (conns == NULL)
		err(1, "connections");
	for (i = 0; i < n; i++) {
		conns[i].fd = loopback_dial(port);
		send_all(conns[i].fd, requests, request_len);
		lines.fd = conns[i].fd;
		lines.len = lines.used = 0;
		if (lines_next(&lines) == NULL)
			errx(1, "closed without an answer");
		watch(&conns[i], EPOLL_CTL_ADD);
	}
	return conns;
}

static void
await_line(void)
{
	int c;

	while ((c = getchar()) != EOF && c != '\n')
		continue;
}

int
main(int argc, char **argv)
{
	struct conn *conns;
	uint64_t start, ms;
	size_t n;

	if (argc != 7)
		errx(2, "usage: load PORT CONNECTIONS DEPTH COUNT MS REQUEST");
	fill_requests(argv[6]);
	if ((epoll_fd = epoll_create1(EPOLL_CLOEXEC)) == -1)
		err(1, "epoll");
	n = strtoul(argv[2], NULL, 10);
	conns = connect_all(loopback_port(argv[1]), n);
	puts("ready");
	fflush(stdout);
	await_line();

	count = strtoull(argv[4], NULL, 10);
	ms = strtoull(argv[5], NULL, 10);
	start = clock_ns();
	deadline = ms == 0 ? UINT64_MAX : start + ms * 1000000;
	work(conns, n, strtoull(argv[3], NULL, 10));
	printf("{\"answers\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64
	    "}\n", answers, answer_bytes, clock_ns() - start);
	fflush(stdout);
	await_line();
	free(conns);
	return 0;
}
