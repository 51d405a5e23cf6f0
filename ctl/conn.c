/* SPDX-License-Identifier: ISC */
/* One connection to a daemon. The socket never blocks: every wait is a poll
 * with a bound, and a signal that was caught ends it. */
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "report.h"

#define DEFAULT_PORT	"4444"
#define CONNECT_S	10U
#define SEND_PIECE	(1U << 20)
#define FILL_PIECE	(64U << 10)

struct conn {
	int		 sock_fd;
	int		 wait_ms;	/* for an answer; -1: for ever */
	char		*buf;
	size_t		 size;		/* allocated */
	size_t		 start;		/* first byte not yet taken */
	size_t		 end;
	size_t		 scanned;	/* no LF before this one */
	char		 name[TARGET_TEXT];
};

/* Takes the text after the host: nothing, or ":" and a port. */
static int
take_port(struct target *t, const char *s)
{
	const char *bad = NULL;

	if (*s == '\0') {
		strlcpy(t->port, DEFAULT_PORT, sizeof(t->port));
		return 0;
	}
	if (*s++ != ':' || strspn(s, "0123456789") != strlen(s))
		return -1;
	strtonum(s, 1, 65535, &bad);
	if (bad != NULL || strlen(s) >= sizeof(t->port))
		return -1;
	strlcpy(t->port, s, sizeof(t->port));
	return 0;
}

int
target_parse(struct target *t, const char *s)
{
	const char *end = s + strlen(s), *colon = strchr(s, ':');
	size_t len;

	if (*s == '[') {
		if ((end = strchr(++s, ']')) == NULL ||
		    take_port(t, end + 1) == -1)
			return -1;
	} else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
		end = colon;
		if (take_port(t, colon) == -1)
			return -1;
	} else
		strlcpy(t->port, DEFAULT_PORT, sizeof(t->port));
	len = (size_t)(end - s);
	if (len == 0 || len >= sizeof(t->host))
		return -1;
	memcpy(t->host, s, len);
	t->host[len] = '\0';
	return 0;
}

const char *
target_text(const struct target *t, char *buf)
{
	bool v6 = strchr(t->host, ':') != NULL;

	snprintf(buf, TARGET_TEXT, "%s%s%s:%s", v6 ? "[" : "", t->host,
	    v6 ? "]" : "", t->port);
	return buf;
}

static int
wait_ms(unsigned int timeout_s, unsigned int none)
{
	if (timeout_s == 0)
		timeout_s = none;
	if (timeout_s == 0)
		return -1;
	return timeout_s > INT_MAX / 1000 ? INT_MAX : (int)timeout_s * 1000;
}

/* -1 and errno: ETIMEDOUT, EINTR. */
static int
wait_for(int fd, short events, int ms, short *revents)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int n;

	if ((n = poll(&pfd, 1, ms)) == -1)
		return -1;
	if (n == 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (revents != NULL)
		*revents = pfd.revents;
	return 0;
}

/* A connected, non-blocking socket, or -1 and errno. */
static int
connect_one(const struct addrinfo *ai, int ms)
{
	int one = 1, error = 0, saved, sock_fd;
	socklen_t len = sizeof(error);

	sock_fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, 0);
	if (sock_fd == -1)
		return -1;
	if (connect(sock_fd, ai->ai_addr, ai->ai_addrlen) == -1) {
		if (errno != EINPROGRESS ||
		    wait_for(sock_fd, POLLOUT, ms, NULL) == -1 ||
		    getsockopt(sock_fd, SOL_SOCKET, SO_ERROR, &error,
		    &len) == -1)
			goto fail;
		if ((errno = error) != 0)
			goto fail;
	}
	/* Commands are small and waited for; hosts can vanish silently. */
	setsockopt(sock_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(sock_fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	return sock_fd;
fail:
	saved = errno;
	close(sock_fd);
	errno = saved;
	return -1;
}

struct conn *
conn_open(const struct target *t, unsigned int timeout_s)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *ai;
	int error, sock_fd = -1;
	struct conn *c;

	if ((c = calloc(1, sizeof(*c))) == NULL) {
		report("out of memory");
		return NULL;
	}
	target_text(t, c->name);
	c->wait_ms = wait_ms(timeout_s, 0);
	if ((error = getaddrinfo(t->host, t->port, &hints, &list)) != 0) {
		report("cannot find host %s: %s", t->host,
		    gai_strerror(error));
		free(c);
		return NULL;
	}
	for (ai = list; ai != NULL && sock_fd == -1; ai = ai->ai_next)
		sock_fd = connect_one(ai, wait_ms(timeout_s, CONNECT_S));
	freeaddrinfo(list);
	if (sock_fd == -1) {
		report("cannot reach %s: %s%s", c->name, strerror(errno),
		    errno == ECONNREFUSED ?
		    "; is debuglanternd running there?" : "");
		free(c);
		return NULL;
	}
	c->sock_fd = sock_fd;
	return c;
}

void
conn_close(struct conn *c)
{
	if (c == NULL)
		return;
	close(c->sock_fd);
	free(c->buf);
	free(c);
}

int
conn_fd(const struct conn *c)
{
	return c->sock_fd;
}

int
conn_send(struct conn *c, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len > 0) {
		n = send(c->sock_fd, p, len, MSG_NOSIGNAL);
		if (n == -1 && errno == EAGAIN) {
			if (wait_for(c->sock_fd, POLLOUT, c->wait_ms,
			    NULL) == -1)
				return -1;
			continue;
		}
		if (n == -1)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int
conn_send_file(struct conn *c, int file_fd, size_t len,
    void (*progress)(void *, size_t), void *arg)
{
	size_t sent = 0, piece;
	short revents;
	ssize_t n;

	while (sent < len) {
		if (wait_for(c->sock_fd, POLLIN | POLLOUT, c->wait_ms,
		    &revents) == -1)
			return -1;
		/* A refusal comes before the payload is through. */
		if (revents & (POLLIN | POLLERR | POLLHUP))
			return 0;
		piece = len - sent < SEND_PIECE ? len - sent : SEND_PIECE;
		n = sendfile(c->sock_fd, file_fd, NULL, piece);
		if (n == 0) {
			errno = ENODATA;
			return -1;
		}
		if (n == -1 && (errno == EPIPE || errno == ECONNRESET))
			return 0;
		if (n == -1 && errno != EAGAIN)
			return -1;
		if (n > 0) {
			sent += (size_t)n;
			progress(arg, sent);
		}
	}
	return 0;
}

/* Makes room for one more piece behind end. */
static int
make_room(struct conn *c)
{
	size_t size;
	char *buf;

	if (c->start > 0) {
		memmove(c->buf, c->buf + c->start, c->end - c->start);
		c->end -= c->start;
		c->scanned -= c->start;
		c->start = 0;
	}
	if (c->end >= CONN_ANSWER_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	if (c->size - c->end > FILL_PIECE)
		return 0;
	size = c->size * 2 + 2 * FILL_PIECE;
	if ((buf = realloc(c->buf, size)) == NULL)
		return -1;
	c->buf = buf;
	c->size = size;
	return 0;
}

ssize_t
conn_fill(struct conn *c)
{
	ssize_t n;

	if (make_room(c) == -1)
		return -1;
	/* One byte stays free for the NUL of conn_take_line(). */
	n = recv(c->sock_fd, c->buf + c->end, c->size - c->end - 1, 0);
	if (n > 0)
		c->end += (size_t)n;
	return n;
}

char *
conn_take_line(struct conn *c, size_t *lenp)
{
	char *line, *lf;

	if (c->scanned == c->end)
		return NULL;
	lf = memchr(c->buf + c->scanned, '\n', c->end - c->scanned);
	if (lf == NULL) {
		c->scanned = c->end;
		return NULL;
	}
	line = c->buf + c->start;
	*lf = '\0';
	*lenp = (size_t)(lf - line);
	c->start = c->scanned = (size_t)(lf + 1 - c->buf);
	return line;
}

static void
report_end(const struct conn *c, ssize_t n, int error)
{
	if (n == 0 && c->start == c->end)
		report("%s closed the connection without an answer", c->name);
	else if (n == 0)
		report("%s closed the connection in the middle of an answer",
		    c->name);
	else if (error == ETIMEDOUT)
		report("no answer from %s within %d s", c->name,
		    c->wait_ms / 1000);
	else if (error == EMSGSIZE)
		report("the answer of %s is longer than %u bytes", c->name,
		    CONN_ANSWER_MAX);
	else
		report("the connection to %s broke: %s", c->name,
		    strerror(error));
}

char *
conn_line(struct conn *c, size_t *lenp)
{
	ssize_t n;
	char *line;

	while ((line = conn_take_line(c, lenp)) == NULL) {
		if ((n = conn_fill(c)) > 0)
			continue;
		if (n == -1 && errno == EAGAIN &&
		    wait_for(c->sock_fd, POLLIN, c->wait_ms, NULL) == 0)
			continue;
		report_end(c, n, errno);
		return NULL;
	}
	return line;
}

size_t
conn_take(struct conn *c, void *buf, size_t len)
{
	size_t have = c->end - c->start;

	if (have == 0)
		return 0;
	if (have > len)
		have = len;
	memcpy(buf, c->buf + c->start, have);
	c->start += have;
	c->scanned = c->start;
	return have;
}

ssize_t
conn_read(struct conn *c, void *buf, size_t len)
{
	size_t have = conn_take(c, buf, len);
	ssize_t n;

	if (have > 0)
		return (ssize_t)have;
	while ((n = recv(c->sock_fd, buf, len, 0)) == -1 && errno == EAGAIN)
		if (wait_for(c->sock_fd, POLLIN, c->wait_ms, NULL) == -1)
			return -1;
	return n;
}
