/* SPDX-License-Identifier: ISC */
/* Channels: sending, queueing, receiving and checking messages. */
#include <sys/epoll.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/log.h"
#include "fdkind.h"
#include "msg.h"
#include "msg_out.h"

/* Messages handled per turn of the loop, so that no peer starves the rest. */
#define READ_BURST	32
/* Turns that take one message alone when there was no second one, at most. */
#define SINGLES_MAX	15
#define CALM_MS		5
/* And after such a pause: what a socket's buffer holds. */
#define CALM_BURST	512
/* Handlers that drain other channels, nested at most so deep, less one. */
#define READ_DEPTH	4

struct chan_out {
	struct chan_out	*next;
	int		 fd;
	size_t		 len;
	uint8_t		 data[];
};

/* Twice the limit in wire size, as sk_buff overhead counts too. */
#define SOCKET_BUFFER	(1024 * 1024)

int
chan_pair(int fds[2])
{
	int size = SOCKET_BUFFER;
	int i;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, fds) == -1)
		return -1;
	/* capped by the host's limit, which always admits one message */
	for (i = 0; i < 2; i++)
		(void)setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &size,
		    sizeof(size));
	return 0;
}

void
chan_init(struct channel *c, enum role self, enum role peer, chan_gone_fn gone,
    chan_allow_fn allow)
{
	memset(c, 0, sizeof(*c));
	c->fd = -1;
	c->self = self;
	c->peer = peer;
	c->gone = gone;
	c->allow = allow;
	c->out_tail = &c->out_head;
}

void
chan_refuse_fds(struct channel *c)
{
	c->no_fds = true;
}

bool
chan_is_open(const struct channel *c)
{
	return c->fd != -1;
}

static void	on_io(uint32_t, void *);

int
chan_open(struct channel *c, int fd, uint32_t generation)
{
	int flags = fcntl(fd, F_GETFL);

	/* known also when it fails: it is this one that was lost */
	c->generation = generation;
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1 ||
	    loop_add(&c->io, fd, EPOLLIN, on_io, c) == -1) {
		log_warn("the channel to %s", role_name(c->peer));
		if (fd != -1)
			close(fd);
		return -1;
	}
	c->fd = fd;
	c->paused = false;
	return 0;
}

static void
forget(const struct msg_hdr *h, void *p, size_t len)
{
	if (msg_is_secret(h->type))
		explicit_bzero(p, len);
}

static void
free_out(struct chan_out *o)
{
	struct msg_hdr h;

	memcpy(&h, o->data, sizeof(h));
	forget(&h, o->data, o->len);
	if (o->fd != -1)
		close(o->fd);
	free(o);
}

void
chan_close(struct channel *c)
{
	struct chan_out *o;

	if (c->fd == -1)
		return;
	loop_del(&c->io);
	close(c->fd);
	c->fd = -1;
	loop_timer_unset(&c->calm);
	c->chatty = false;
	while ((o = c->out_head) != NULL) {
		c->out_head = o->next;
		free_out(o);
	}
	c->out_tail = &c->out_head;
	c->out_bytes = c->out_fds = 0;
}

size_t
chan_backlog(const struct channel *c)
{
	return c->out_bytes;
}

static int
watch(struct channel *c)
{
	bool wait = c->paused || c->calm.slot != 0;

	return loop_mod(&c->io, (wait ? 0U : (uint32_t)EPOLLIN) |
	    (c->out_head != NULL ? (uint32_t)EPOLLOUT : 0U));
}

void
chan_pause(struct channel *c, bool paused)
{
	if (c->fd == -1)
		return;
	c->paused = paused;
	(void)watch(c);
}

static void
cut_off(struct channel *c, const char *why)
{
	chan_close(c);
	c->gone(c, why);
}

/* 1 = sent, 0 = would block, -1 = the peer has gone. */
static int
send_raw(int sock_fd, const void *data, size_t len, int fd)
{
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data,
	    .iov_len = len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cm;
	ssize_t n;

	if (fd != -1) {
		memset(&ctl, 0, sizeof(ctl));
		mh.msg_control = ctl.buf;
		mh.msg_controllen = sizeof(ctl.buf);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
	}
	do {
		n = sendmsg(sock_fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n == -1 && errno == EINTR);
	if (n != -1)
		return 1;
	/* these pass, some of them when the peer has read on */
	return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ||
	    errno == ETOOMANYREFS ? 0 : -1;
}

/* False: the channel cannot go on, and *why, if not NULL, is the peer's. */
static bool
enqueue(struct channel *c, const void *data, size_t len, int fd,
    const char **why)
{
	struct chan_out *o;

	*why = "does not read its messages";
	if (c->out_bytes + len > CHAN_QUEUE_MAX ||
	    (fd != -1 && c->out_fds == CHAN_QUEUE_FDS))
		return false;
	o = malloc(sizeof(*o) + len);
	if (o == NULL) {
		*why = NULL;
		return false;
	}
	o->next = NULL;
	o->fd = fd;
	o->len = len;
	memcpy(o->data, data, len);
	*c->out_tail = o;
	c->out_tail = &o->next;
	c->out_bytes += len;
	c->out_fds += fd != -1;
	(void)watch(c);
	return true;
}

static void
drop_fd(int fd, bool lent)
{
	if (fd != -1 && !lent)
		close(fd);
}

/* A lent fd stays open: only what has to wait needs a copy of it. */
static int
send_or_queue(struct channel *c, struct msg_out *o, int fd, bool lent)
{
	size_t len = sizeof(o->hdr) + o->hdr.length;
	const char *why;
	int sent = 0;

	if (c->fd == -1 || o->bad) {
		drop_fd(fd, lent);
		if (o->bad)
			log_warnx("message %s is too large to send",
			    msg_name(o->hdr.type));
		return -1;
	}
	o->hdr.generation = c->generation;
	if (c->out_head == NULL)
		sent = send_raw(c->fd, &o->hdr, len, fd);
	/* a peer that has gone is noticed by the read side, in its own turn */
	if (sent != 0) {
		drop_fd(fd, lent);
		return sent == 1 ? 0 : -1;
	}
	if (lent && fd != -1 && (fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) == -1) {
		cut_off(c, NULL);
		return -1;
	}
	if (enqueue(c, &o->hdr, len, fd, &why))
		return 0;
	if (fd != -1)
		close(fd);
	cut_off(c, why);
	return -1;
}

static int
send_it(struct channel *c, struct msg_out *o, int fd, bool lent)
{
	size_t len = o->hdr.length;
	bool secret = msg_is_secret(o->hdr.type);
	int r = send_or_queue(c, o, fd, lent);

	/* there is one outgoing message at a time, and this may be the next */
	if (secret)
		explicit_bzero(o->payload, len);
	return r;
}

int
chan_send(struct channel *c, struct msg_out *o, int fd)
{
	return send_it(c, o, fd, false);
}

int
chan_lend(struct channel *c, struct msg_out *o, int fd)
{
	return send_it(c, o, fd, true);
}

static void
flush_queue(struct channel *c)
{
	struct chan_out *o;
	int sent;

	while ((o = c->out_head) != NULL) {
		sent = send_raw(c->fd, o->data, o->len, o->fd);
		if (sent == 0)
			return;
		c->out_head = o->next;
		if (c->out_head == NULL)
			c->out_tail = &c->out_head;
		c->out_bytes -= o->len;
		c->out_fds -= o->fd != -1;
		free_out(o);
		if (sent == -1)
			return;
	}
	(void)watch(c);
}

/*
 * Takes the one fd out of the control data.  A second fd, truncated data or
 * any other control message is a violation; what came is closed.
 */
static const char *
take_control(struct msghdr *mh, int *fd)
{
	struct cmsghdr *cm;
	const char *why = NULL;
	size_t i, n;
	int got;

	if (mh->msg_flags & MSG_CTRUNC)
		why = "an fd where none belongs, or more than one";
	for (cm = CMSG_FIRSTHDR(mh); cm != NULL; cm = CMSG_NXTHDR(mh, cm)) {
		if (cm->cmsg_level != SOL_SOCKET ||
		    cm->cmsg_type != SCM_RIGHTS) {
			why = "control data that is not an fd";
			continue;
		}
		n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&got, CMSG_DATA(cm) + i * sizeof(int),
			    sizeof(got));
			if (*fd == -1)
				*fd = got;
			else {
				close(got);
				why = "more than one fd";
			}
		}
	}
	return why;
}

static bool
may_send(const struct msg_row *row, enum role peer)
{
	if (row->from == ROLE_CHILD)
		return peer != ROLE_PARENT && peer != ROLE_SETUP;
	if (row->from == ROLE_INST)
		return peer == ROLE_DEBUGGER || peer == ROLE_TRACER;
	return row->from == peer;
}

/*
 * The peer sent an fd that does not fit into our full table, which is not the
 * peer's fault.  If the peer had sent one fd too many, at least the others
 * would have arrived.
 */
static bool
lacks_room(const struct channel *c, const struct msghdr *mh, int fd)
{
	return mh->msg_flags & MSG_CTRUNC && fd == -1 && !c->no_fds;
}

static const char *
check(const struct channel *c, const struct msg *m, size_t len)
{
	const struct msg_row *row;

	if (len < sizeof(m->hdr) || len - sizeof(m->hdr) != m->hdr.length)
		return "length does not match the header";
	if (m->hdr.type == MSG_NONE || m->hdr.type >= MSG_COUNT ||
	    msg_handlers[m->hdr.type] == NULL)
		return "a message that this role does not take";
	row = &msg_rows[m->hdr.type];
	if (!may_send(row, c->peer))
		return "a message that this peer may not send";
	if (m->hdr.generation != c->generation)
		return "wrong generation";
	if (m->hdr.length < row->min || m->hdr.length > row->max)
		return "length outside the table's bounds";
	return fdkind_check(row->fd, m->fd);
}

static const char *
handle(struct channel *c, struct msg *m, size_t len)
{
	const char *why = check(c, m, len);
	const struct msg_row *row;
	int r;

	if (why != NULL)
		return why;
	row = &msg_rows[m->hdr.type];
	if (c->allow != NULL) {
		r = c->allow(m, row);
		if (r != 0)
			return r == 1 ? NULL : "a session that is not its own";
	}
	if (msg_handlers[m->hdr.type](m) == -1)
		return "fields that do not fit the message";
	return NULL;
}

/* An empty packet reads like the end, but only the end hangs up too. */
static bool
has_gone(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll_again(&p, 1, 0) == -1 ||
	    (p.revents & (POLLHUP | POLLERR)) != 0;
}

/*
 * A message without its fd.  Between roles that ends the link, so that both
 * begin anew.  The parent's is done without, but for a link that it has made:
 * that is lost as others are.
 */
static int
lose(struct channel *c, struct msg *m)
{
	log_warnx("no file descriptor is left for %s of %s (raise the limit of "
	    "open files)", msg_name(m->hdr.type), role_name(c->peer));
	if (c->peer != ROLE_PARENT) {
		cut_off(c, NULL);
		return -1;
	}
	if (m->hdr.type == MSG_PEER && m->hdr.length == msg_rows[MSG_PEER].min)
		(void)msg_handlers[MSG_PEER](m);
	return 1;
}

/* 1 = one message handled, 0 = nothing there, -1 = the channel is gone. */
static int
read_one(struct channel *c, int flags)
{
	/* a handler may drain another channel: it gets a buffer of its own */
	static uint8_t payloads[READ_DEPTH][MSG_PAYLOAD_MAX + 1];
	static unsigned int depth;
	uint8_t *payload = payloads[depth];
	union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct msg m = { .fd = -1, .next = payload, .chan = c };
	struct iovec iov[2] = {
		{ .iov_base = &m.hdr, .iov_len = sizeof(m.hdr) },
		{ .iov_base = payload, .iov_len = sizeof(payloads[0]) },
	};
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2,
	    .msg_control = ctl.buf, .msg_controllen = sizeof(ctl.buf) };
	const char *why;
	ssize_t n;

	if (depth == READ_DEPTH - 1)
		return 0;
	if (c->no_fds)
		mh.msg_controllen = 0;
	n = recvmsg(c->fd, &mh, MSG_CMSG_CLOEXEC | flags);
	/* told first when it left something unread; its last words follow */
	if (n == -1 && errno == ECONNRESET)
		n = recvmsg(c->fd, &mh, MSG_CMSG_CLOEXEC | flags);
	if (n == -1 && (errno == EAGAIN || errno == EINTR ||
	    errno == ENOMEM || errno == ENOBUFS))
		return 0;
	if (n == -1 || (n == 0 && has_gone(c->fd))) {
		cut_off(c, NULL);
		return -1;
	}
	why = take_control(&mh, &m.fd);
	m.left = m.hdr.length;
	if (lacks_room(c, &mh, m.fd))
		return lose(c, &m);
	if (why == NULL && mh.msg_flags & MSG_TRUNC)
		why = "a message that is too long";
	depth++;
	if (why == NULL)
		why = handle(c, &m, (size_t)n);
	depth--;
	forget(&m.hdr, payload, (size_t)n < sizeof(m.hdr) ? 0 :
	    (size_t)n - sizeof(m.hdr));
	if (m.fd != -1)
		close(m.fd);
	/* the handler may have closed or replaced the channel itself */
	if (why == NULL)
		return c->fd == -1 ? -1 : 1;
	log_warnx("%s broke the message table: %s (%s)", role_name(c->peer),
	    why, msg_name(m.hdr.type));
	cut_off(c, why);
	return -1;
}

int
chan_recv_one(struct channel *c)
{
	int flags = fcntl(c->fd, F_GETFL);
	int r;

	if (flags == -1 || fcntl(c->fd, F_SETFL, flags & ~O_NONBLOCK) == -1)
		return -1;
	r = read_one(c, 0);
	if (c->fd != -1 && fcntl(c->fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return -1;
	return r == 1 ? 0 : -1;
}

/* Returns how many there were. */
static unsigned int
drain(struct channel *c, unsigned int max)
{
	unsigned int n = 0;

	/* a handler that drains its own channel would share one buffer */
	if (c->in_read)
		return 0;
	c->in_read = true;
	while (n < max && c->fd != -1 && !c->paused &&
	    read_one(c, MSG_DONTWAIT) == 1)
		n++;
	c->in_read = false;
	return n;
}

void
chan_drain(struct channel *c, unsigned int max)
{
	(void)drain(c, max);
}

/*
 * Questions and answers come one by one, and to find that there is no second
 * message costs half as much as a message.  So a peer that had but one to say
 * is not asked for more in its next turns: if there is more, the loop says so.
 */
static void
drain_turn(struct channel *c)
{
	if (c->singles > 0) {
		c->singles--;
		(void)drain(c, 1);
		return;
	}
	if (drain(c, READ_BURST) > 1)
		c->vain = 0;
	else if (c->vain < SINGLES_MAX)
		c->vain = c->vain * 2 + 1;
	c->singles = c->vain;
}

void
chan_calm(struct channel *c)
{
	c->chatty = true;
}

static void	on_calm_over(void *);

/* After a turn of reading. */
static void
calm_down(struct channel *c)
{
	if (c->fd == -1)
		return;
	if (c->chatty)
		loop_timer_set(&c->calm, CALM_MS, on_calm_over, c);
	c->chatty = false;
	(void)watch(c);
}

static void
on_calm_over(void *arg)
{
	struct channel *c = arg;

	chan_drain(c, CALM_BURST);
	calm_down(c);
}

static void
on_io(uint32_t events, void *arg)
{
	struct channel *c = arg;

	if (events & EPOLLOUT)
		flush_queue(c);
	/* a hang-up is always reported and would keep the loop busy */
	if (events & (EPOLLHUP | EPOLLERR))
		c->paused = false;
	if (c->fd != -1 && events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		drain_turn(c);
		calm_down(c);
	}
}
