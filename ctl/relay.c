/* SPDX-License-Identifier: ISC */
/* Bytes both ways between a connection and two descriptors. Neither way waits
 * for the other. */
#include <sys/socket.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "relay.h"
#include "report.h"

struct flow {
	int	from_fd;
	int	to_fd;
	size_t	piece;		/* bytes of one write */
	size_t	len;
	size_t	done;
	bool	ended;		/* no more to read */
	char	buf[32768];
};

static bool
flow_idle(const struct flow *f)
{
	return f->done == f->len;
}

/* -1 and errno: the flow is broken. */
static int
flow_read(struct flow *f)
{
	ssize_t n = read(f->from_fd, f->buf, sizeof(f->buf));

	if (n == -1)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	f->len = (size_t)n;
	f->done = 0;
	f->ended = n == 0;
	return 0;
}

static int
flow_write(struct flow *f)
{
	size_t len = f->len - f->done;
	ssize_t n;

	n = write(f->to_fd, f->buf + f->done, len < f->piece ? len :
	    f->piece);
	if (n == -1)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	f->done += (size_t)n;
	return 0;
}

/* A flow either reads or writes, one at a time. */
static int
flow_step(struct flow *f, const struct pollfd *in, const struct pollfd *out)
{
	if (out->fd != -1 && out->revents != 0)
		return flow_write(f);
	if (in->fd != -1 && in->revents != 0)
		return flow_read(f);
	return 0;
}

static int
relay_turn(struct flow *up, struct flow *down)
{
	struct flow *flows[2] = { up, down };
	struct pollfd pfds[4];
	size_t i;

	for (i = 0; i < 2; i++) {
		pfds[2 * i] = (struct pollfd){
			.fd = flow_idle(flows[i]) && !flows[i]->ended ?
			    flows[i]->from_fd : -1, .events = POLLIN };
		pfds[2 * i + 1] = (struct pollfd){
			.fd = flow_idle(flows[i]) ? -1 : flows[i]->to_fd,
			.events = POLLOUT };
	}
	if (poll(pfds, 4, -1) == -1)
		return errno == EINTR ? 0 : -1;
	for (i = 0; i < 2; i++)
		if (flow_step(flows[i], &pfds[2 * i],
		    &pfds[2 * i + 1]) == -1)
			return -1;
	return 0;
}

int
relay(struct conn *c, int in_fd, int out_fd)
{
	struct flow up = { .from_fd = in_fd, .to_fd = conn_fd(c),
	    .piece = sizeof(up.buf) };
	struct flow down = { .from_fd = conn_fd(c), .to_fd = out_fd,
	    .piece = PIPE_BUF };
	bool told = false;

	/* Bytes may have come along with the daemon's answer. */
	down.len = conn_take(c, down.buf, sizeof(down.buf));
	while (!down.ended || !flow_idle(&down)) {
		if (relay_turn(&up, &down) == -1) {
			if (errno == EPIPE || errno == ECONNRESET)
				return CTL_OK;
			report("the connection to gdbserver broke: %s",
			    strerror(errno));
			return CTL_UNREACHABLE;
		}
		if (up.ended && !told)
			told = shutdown(up.to_fd, SHUT_WR) == 0;
	}
	return CTL_OK;
}
