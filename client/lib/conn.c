/* SPDX-License-Identifier: ISC */
/*
 * A connection to a daemon. Its descriptor never blocks: every wait is a poll
 * with a time limit, and a signal that was caught ends the wait.
 */
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "dial.h"
#include "report.h"
#include "ssh.h"
#include "stream.h"
#include "target.h"

#define SEND_PIECE	(1U << 20)
#define TLS_PIECE	(64U << 10)
#define FILL_PIECE	(64U << 10)

struct conn {
	struct stream	 stream;
	struct ssh	 ssh;
	struct target	 target;
	int		 wait_ms;	/* for an answer; -1: for ever */
	char		*buf;
	size_t		 size;		/* allocated */
	size_t		 start;		/* first byte not yet taken */
	size_t		 end;
	size_t		 scanned;	/* no LF before this one */
	char		 name[TARGET_TEXT];
};

int
dconn_ms(unsigned int timeout_s, unsigned int none)
{
	if (timeout_s == 0)
		timeout_s = none;
	if (timeout_s == 0)
		return -1;
	return timeout_s > INT_MAX / 1000 ? INT_MAX : (int)timeout_s * 1000;
}

struct conn *
dconn_new(const struct stream *s, const struct ssh *ssh,
    const struct target *t, unsigned int timeout_s)
{
	struct conn *c;

	if ((c = calloc(1, sizeof(*c))) == NULL) {
		report("out of memory");
		return NULL;
	}
	c->stream = *s;
	c->ssh = *ssh;
	c->target = *t;
	c->wait_ms = dconn_ms(timeout_s, 0);
	target_text(t, c->name);
	return c;
}

void
dconn_close(struct conn *c)
{
	if (c == NULL)
		return;
	stream_close(&c->stream);
	ssh_end(&c->ssh, &c->target, 0);
	/* A new token may have come this way. */
	if (c->buf != NULL)
		explicit_bzero(c->buf, c->size);
	free(c->buf);
	free(c);
}

bool
dconn_is_private(const struct conn *c)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (c->stream.tls != NULL || c->target.kind == TARGET_SSH)
		return true;
	if (getpeername(c->stream.sock_fd, (struct sockaddr *)&ss,
	    &len) == -1)
		return false;
	return dial_is_local(&ss);
}

bool
dconn_is_here(const struct conn *c)
{
	struct sockaddr_storage self, peer;
	socklen_t self_len = sizeof(self), peer_len = sizeof(peer);

	if (c->target.kind == TARGET_SSH ||
	    getsockname(c->stream.sock_fd, (struct sockaddr *)&self,
	    &self_len) == -1 || getpeername(c->stream.sock_fd,
	    (struct sockaddr *)&peer, &peer_len) == -1)
		return false;
	return dial_is_local(&peer) || dial_same_host(&self, &peer);
}

int
dconn_fd(const struct conn *c)
{
	return c->stream.sock_fd;
}

short
dconn_read_events(const struct conn *c)
{
	return c->stream.read_events;
}

short
dconn_write_events(const struct conn *c)
{
	return c->stream.write_events;
}

int
dconn_send(struct conn *c, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len > 0) {
		n = stream_write(&c->stream, p, len);
		if (n == -1 && errno == EAGAIN) {
			if (stream_wait(&c->stream, c->stream.write_events,
			    c->wait_ms, NULL) == -1)
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

/*
 * Waits until more can be sent. 1 when the daemon has said something or has
 * closed, and nothing more should be; -1 and errno.
 */
static int
wait_to_send(struct conn *c)
{
	short revents;
	ssize_t n;

	if (stream_wait(&c->stream, POLLIN | c->stream.write_events,
	    c->wait_ms, &revents) == -1)
		return -1;
	if ((revents & (POLLIN | POLLERR | POLLHUP)) == 0)
		return 0;
	/* TLS may consume the bytes itself: no data for us is no error. */
	n = dconn_fill(c);
	return n == -1 && errno == EAGAIN ? 0 : 1;
}

/* A piece of the file, in buf where the kernel cannot do it by itself. Bytes
 * sent, 0 at the file's end, -1 and errno. */
static ssize_t
send_piece(struct conn *c, int file_fd, off_t at, size_t len, char *buf)
{
	ssize_t n;

	if (c->stream.tls == NULL)
		return sendfile(c->stream.sock_fd, file_fd, &at, len);
	if (len > TLS_PIECE)
		len = TLS_PIECE;
	if ((n = pread(file_fd, buf, len, at)) <= 0)
		return n;
	return stream_write(&c->stream, buf, (size_t)n);
}

int
dconn_send_file(struct conn *c, int file_fd, size_t len,
    void (*progress)(void *, size_t), void *arg)
{
	static char buf[TLS_PIECE];
	size_t sent = 0, piece, waited = 0;
	ssize_t n = -1;
	int r;

	errno = EAGAIN;
	while (sent < len) {
		/* A refusal comes before the payload is through. */
		if (n == -1 || sent - waited >= SEND_PIECE) {
			if ((r = wait_to_send(c)) != 0)
				return r == 1 ? 0 : -1;
			waited = sent;
		}
		piece = len - sent < SEND_PIECE ? len - sent : SEND_PIECE;
		n = send_piece(c, file_fd, (off_t)sent, piece, buf);
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
dconn_fill(struct conn *c)
{
	ssize_t n;

	if (make_room(c) == -1)
		return -1;
	/* Leave one byte for the NUL of dconn_take_line(). */
	n = stream_read(&c->stream, c->buf + c->end, c->size - c->end - 1);
	if (n > 0)
		c->end += (size_t)n;
	return n;
}

char *
dconn_take_line(struct conn *c, size_t *lenp)
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

const char *
dconn_strerror(const struct conn *c)
{
	return errno == EPROTO && *c->stream.why != '\0' ? c->stream.why :
	    strerror(errno);
}

/* A port that was given may be the one for browsers. */
static bool
may_be_web(const struct conn *c)
{
	return c->target.kind != TARGET_UNIX && c->target.kind != TARGET_SSH &&
	    c->stream.tls == NULL && strcmp(c->target.port, "4444") != 0;
}

static void
report_end(struct conn *c, ssize_t n, int error)
{
	/* Why ssh ended says it all; what it left unread makes it a reset. */
	if ((n == 0 || error == ECONNRESET) && ssh_end(&c->ssh, &c->target,
	    1) != CTL_OK)
		return;
	if (n == 0 && c->start == c->end)
		report("%s closed the connection without an answer%s", c->name,
		    may_be_web(c) ? "; is that the web port? the control port "
		    "is 4444 unless configured otherwise" : "");
	else if (n == 0)
		report("%s closed the connection in the middle of an answer",
		    c->name);
	else if (error == ETIMEDOUT)
		report("no answer from %s within %d s", c->name,
		    c->wait_ms / 1000);
	else if (error == EINTR)
		report("interrupted: the answer of %s was not waited for",
		    c->name);
	else if (error == EMSGSIZE)
		report("the answer of %s is longer than %u bytes", c->name,
		    CONN_ANSWER_MAX);
	else {
		errno = error;
		report("the connection to %s broke: %s", c->name,
		    dconn_strerror(c));
	}
}

bool
dconn_is_over(const struct conn *c)
{
	return stream_wait(&c->stream, POLLIN, 0, NULL) == 0;
}

char *
dconn_line(struct conn *c, size_t *lenp)
{
	ssize_t n;
	char *line;

	while ((line = dconn_take_line(c, lenp)) == NULL) {
		if ((n = dconn_fill(c)) > 0)
			continue;
		if (n == -1 && errno == EAGAIN &&
		    stream_wait(&c->stream, c->stream.read_events,
		    c->wait_ms, NULL) == 0)
			continue;
		report_end(c, n, errno);
		return NULL;
	}
	return line;
}

size_t
dconn_take(struct conn *c, void *buf, size_t len)
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
dconn_recv(struct conn *c, void *buf, size_t len)
{
	size_t have = dconn_take(c, buf, len);

	return have > 0 ? (ssize_t)have : stream_read(&c->stream, buf, len);
}

ssize_t
dconn_read(struct conn *c, void *buf, size_t len)
{
	ssize_t n;

	while ((n = dconn_recv(c, buf, len)) == -1 && errno == EAGAIN)
		if (stream_wait(&c->stream, c->stream.read_events,
		    c->wait_ms, NULL) == -1)
			return -1;
	return n;
}

bool
dconn_buffered(const struct conn *c)
{
	return c->start < c->end;
}

ssize_t
dconn_write(struct conn *c, const void *buf, size_t len)
{
	return stream_write(&c->stream, buf, len);
}

int
dconn_end(struct conn *c)
{
	return stream_end(&c->stream);
}
