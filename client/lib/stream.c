/* SPDX-License-Identifier: ISC */
/*
 * Bytes to and from a daemon: over a socket as they are, or in TLS. Only
 * stream_wait() blocks. This file uses only constants of libtls: programs that
 * speak no TLS do not load the library.
 */
#include <sys/socket.h>

#include <bsd/string.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <tls.h>
#include <unistd.h>

#include "stream.h"

/* How soon a signal is looked for behind one that can wait. */
#define QUIET_MS	200

static int	interrupts_fd = -1;

void
stream_init(struct stream *s, int sock_fd)
{
	memset(s, 0, sizeof(*s));
	s->sock_fd = sock_fd;
	s->read_events = POLLIN;
	s->write_events = POLLOUT;
}

void
stream_encrypt(struct stream *s, const struct cipher *cipher, struct tls *tls)
{
	s->cipher = cipher;
	s->tls = tls;
}

/* The result of a libtls call as that of a system call. */
static ssize_t
result(struct stream *s, ssize_t n, short *events)
{
	const char *why;

	if (n >= 0)
		return n;
	if (n == TLS_WANT_POLLIN || n == TLS_WANT_POLLOUT) {
		*events = n == TLS_WANT_POLLIN ? POLLIN : POLLOUT;
		errno = EAGAIN;
		return -1;
	}
	/* A socket's own error tells more than TLS's about it. */
	if (errno != EPIPE && errno != ECONNRESET)
		errno = EPROTO;
	why = s->cipher->error(s->tls);
	if (why == NULL)
		why = "broken TLS";
	else if (strstr(why, "unexpected eof") != NULL)
		why = "it ended without saying so in TLS";
	strlcpy(s->why, why, sizeof(s->why));
	return -1;
}

ssize_t
stream_read(struct stream *s, void *buf, size_t len)
{
	if (s->tls == NULL)
		return recv(s->sock_fd, buf, len, 0);
	s->read_events = POLLIN;
	errno = 0;
	return result(s, s->cipher->read(s->tls, buf, len), &s->read_events);
}

ssize_t
stream_write(struct stream *s, const void *buf, size_t len)
{
	if (s->write_ended) {
		errno = EPIPE;
		return -1;
	}
	if (s->tls == NULL)
		return send(s->sock_fd, buf, len, MSG_NOSIGNAL);
	s->write_events = POLLOUT;
	errno = 0;
	return result(s, s->cipher->write(s->tls, buf, len), &s->write_events);
}

int
stream_end(struct stream *s)
{
	if (s->write_ended)
		return 0;
	if (s->tls != NULL) {
		s->write_events = POLLOUT;
		errno = 0;
		/* Says so inside TLS too: an end without is an attack. */
		if (result(s, s->cipher->close(s->tls), &s->write_events) == -1)
			return -1;
	} else if (shutdown(s->sock_fd, SHUT_WR) == -1)
		return -1;
	s->write_ended = true;
	return 0;
}

void
stream_interruptible(int signal_fd)
{
	interrupts_fd = signal_fd;
}

/* Others of those that are taken, as a change of size, can wait. */
static bool
is_interrupted(void)
{
	static const int those[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;
	size_t i;

	if (sigpending(&set) == -1)
		return false;
	for (i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (sigismember(&set, those[i]) == 1)
			return true;
	return false;
}

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* How long to wait now; a signal that can wait would be told all the time. */
static int
slice(int64_t end, bool quiet)
{
	int64_t left = end == INT64_MAX ? -1 : end - now_ms();

	if (left < 0 && end != INT64_MAX)
		return 0;
	return quiet && (left == -1 || left > QUIET_MS) ? QUIET_MS : (int)left;
}

int
stream_wait(const struct stream *s, short events, int ms, short *revents)
{
	struct pollfd pfds[2] = { { s->sock_fd, events, 0 }, { -1, 0, 0 } };
	int64_t end = ms < 0 ? INT64_MAX : now_ms() + ms;
	bool quiet = false;

	do {
		pfds[1] = (struct pollfd){ quiet ? -1 : interrupts_fd, POLLIN,
		    0 };
		if (poll(pfds, 2, slice(end, quiet)) == -1)
			return -1;
		if (pfds[0].revents != 0) {
			if (revents != NULL)
				*revents = pfds[0].revents;
			return 0;
		}
		if (interrupts_fd != -1 && is_interrupted()) {
			errno = EINTR;
			return -1;
		}
		quiet = pfds[1].revents != 0;
	} while (now_ms() < end);
	errno = ETIMEDOUT;
	return -1;
}

void
stream_close(struct stream *s)
{
	if (s->tls != NULL) {
		stream_end(s);
		s->cipher->free(s->tls);
	}
	if (s->sock_fd != -1)
		close(s->sock_fd);
	stream_init(s, -1);
}
