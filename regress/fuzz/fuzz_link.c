/* SPDX-License-Identifier: ISC */
/* links: common/wire/chan.c common/base/loop.c common/wire/msg.c common/wire/fdkind.c common/wire/roles.c common/base/log.c common/base/errors.c */
/* covers: common/wire/chan.c */
/*
 * Fuzz target of the channels themselves: two of them, whose other ends send
 * what is right and what is not, read or do not, and go, while handlers ask
 * for anything that a role may ask for, and calls fail.  The messages taken
 * must be those sent, whole and in order, in both directions; and nothing may
 * be left open.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include <poll.h>
#include <signal.h>

#define FUZZ_CLOCK
#define FUZZ_LOOP
#define FUZZ_FAULT
#include "regress/fuzz/fuzz.h"
#include "regress/fuzz/fuzz_chan.h"

#define LINKS	2
#define STEPS	64

/* Requests of a message to its handler, in the conn of its header. */
enum {
	WISH_NOTHING, WISH_CALM, WISH_PAUSE, WISH_CLOSE, WISH_OTHER,
	WISH_ANSWER, WISH_KEEP_FD, WISH_WRONG, WISH_REFUSED, WISH_FOREIGN,
	WISHES
};

/* A channel, and what is known of it. */
static struct side {
	struct channel	 c;
	int		 end_fd;	/* the peer's; -1 = it has gone */
	uint64_t	 put, taken;	/* by the peer, of what is right */
	uint64_t	 sent, heard;	/* to the peer */
	bool		 loses;		/* for want of descriptors */
} sides[LINKS];

static bool	fails;			/* calls of this input do */

static int	handle_one(struct msg *);

const msg_handler msg_handlers[MSG_COUNT] = {
	[MSG_RESULT] = handle_one,	/* no fd */
	[MSG_RING] = handle_one,	/* a memfd */
	[MSG_AUTHED] = handle_one,
	[MSG_KEY] = handle_one,		/* a secret */
	[MSG_DEBUG_FD] = handle_one,	/* a socket */
	[MSG_SETTINGS] = handle_one,	/* the parent's */
	[MSG_PEER] = handle_one,	/* and with a socket */
};

/* -- what is sent: its number's last byte, again and again ----------------- */

static void
fill(uint8_t *p, size_t len, uint64_t number)
{
	memset(p, (uint8_t)number, len);
}

static bool
is_filled(const uint8_t *p, size_t len, uint64_t number)
{
	return len == 0 || (p[0] == (uint8_t)number &&
	    memcmp(p, p + 1, len - 1) == 0);
}

/* -- our end --------------------------------------------------------------- */

static void
gone(struct channel *c, const char *why)
{
	(void)why;
	must(!chan_is_open(c) && chan_backlog(c) == 0);
}

static struct side *
side_of(const struct channel *c)
{
	return &sides[c == &sides[1].c];
}

static int
allow(struct msg *m, const struct msg_row *row)
{
	must(row == &msg_rows[m->hdr.type]);
	if (m->hdr.conn == WISH_REFUSED)
		side_of(m->chan)->taken = m->hdr.request;
	return m->hdr.conn == WISH_REFUSED ? 1 :
	    m->hdr.conn == WISH_FOREIGN ? -1 : 0;
}

/* Sends len bytes and maybe an fd, which is lent or given. */
static void
send_one(struct side *s, size_t len, uint8_t how)
{
	static uint8_t buf[MSG_PAYLOAD_MAX + 1];
	int fds[2] = { -1, -1 }, r;
	struct msg_out *o = msg_new(how & 4 ? MSG_KEY_MAKE : MSG_STOP, NULL,
	    0, s->sent);
	bool was_live = fault_live;

	fault_end();
	fill(buf, len, s->sent);
	msg_put_bytes(o, buf, len);
	if (how & 1)
		must(chan_pair(fds) == 0);
	fault_begin();
	r = how & 2 ? chan_lend(&s->c, o, fds[0]) :
	    chan_send(&s->c, o, fds[0]);
	fault_live = was_live;
	if (how & 2 && fds[0] != -1)
		close(fds[0]);
	if (fds[1] != -1)
		close(fds[1]);
	must(r == 0 || r == -1);
	if (r == 0)
		s->sent++;
}

static int
handle_one(struct msg *m)
{
	struct side *s = side_of(m->chan);

	/* a link that was lost on the way: it may have been any message */
	if (m->hdr.type == MSG_PEER && m->fd == -1) {
		must(s->loses);
		if (m->hdr.request <= s->put)
			s->taken = m->hdr.request;
		return 0;
	}
	must(m->hdr.request > s->taken && m->hdr.request <= s->put);
	must(m->hdr.request == s->taken + 1 || s->loses);
	must(is_filled(m->next, m->left, m->hdr.request));
	s->taken = m->hdr.request;
	switch (m->hdr.conn) {
	case WISH_CALM:
		chan_calm(m->chan);
		break;
	case WISH_PAUSE:
		chan_pause(m->chan, true);
		break;
	case WISH_CLOSE:
		chan_close(m->chan);
		break;
	case WISH_OTHER:
		chan_drain(&sides[s == sides].c, 3);
		chan_drain(m->chan, 1);
		break;
	case WISH_ANSWER:
		send_one(s, m->left, (uint8_t)m->left & 4);
		break;
	case WISH_KEEP_FD:
		if (m->fd != -1)
			close(msg_take_fd(m));
		break;
	case WISH_WRONG:
		return -1;
	}
	return 0;
}

/* -- the peer -------------------------------------------------------------- */

static void
connect_side(struct side *s, uint8_t how)
{
	int fds[2];

	if (s->end_fd != -1)
		close(s->end_fd);
	chan_close(&s->c);
	*s = (struct side){ .end_fd = -1 };
	chan_init(&s->c, ROLE_NETPROC, how & 1 ? ROLE_PARENT : ROLE_SPAWNER,
	    gone, how & 2 ? allow : NULL);
	if (how & 4)
		chan_refuse_fds(&s->c);
	must(chan_pair(fds) == 0);
	s->end_fd = fds[1];
	fault_begin();
	if (chan_open(&s->c, fds[0], how) == -1)
		must(!chan_is_open(&s->c));
	fault_end();
}

static int
an_fd(enum msg_fd kind)
{
	int fds[2];

	if (kind == FD_MEMFD)
		return memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (kind != FD_SOCKET)
		return -1;
	must(chan_pair(fds) == 0);
	close(fds[1]);
	return fds[0];
}

/* A message that the table allows; it may ask for something. */
static void
put_right(struct side *s, struct input *in)
{
	static const enum msg_type types[2][4] = {
		{ MSG_RESULT, MSG_RING, MSG_KEY, MSG_DEBUG_FD },
		{ MSG_SETTINGS, MSG_PEER, MSG_SETTINGS, MSG_PEER },
	};
	static uint8_t buf[MSG_PAYLOAD_MAX];
	uint8_t how = take_u8(in);
	size_t len = take_u16(in);
	struct msg_hdr h = { .generation = s->c.generation };
	const struct msg_row *row;
	int fd;

	h.type = types[s->c.peer == ROLE_PARENT][how % 4];
	row = &msg_rows[h.type];
	len = len < row->min ? row->min : len > row->max ? row->max : len;
	h.length = (uint32_t)len;
	h.conn = how / 4 % WISHES;
	h.request = s->put + 1;
	fill(buf, len, h.request);
	fd = an_fd(row->fd);
	if (chan_put(s->end_fd, &h, buf, len, fd))
		s->put++;
	if (fd != -1)
		close(fd);
}

/* Control data of any kind: fds, as many as there may be, or credentials. */
static void
put_control(struct msghdr *mh, uint8_t how, const int *fd)
{
	static union {
		struct cmsghdr	hdr;
		char		buf[CMSG_SPACE(4 * sizeof(int))];
	} ctl;
	size_t i, n = how % 4;

	if (n == 0)
		return;
	memset(&ctl, 0, sizeof(ctl));
	ctl.hdr.cmsg_level = SOL_SOCKET;
	ctl.hdr.cmsg_type = SCM_RIGHTS;
	ctl.hdr.cmsg_len = CMSG_LEN(n * sizeof(int));
	for (i = 0; i < n; i++)
		memcpy(CMSG_DATA(&ctl.hdr) + i * sizeof(int), fd,
		    sizeof(int));
	mh->msg_control = ctl.buf;
	mh->msg_controllen = CMSG_SPACE(n * sizeof(int));
}

/* Sends a message that no peer should send. */
static void
put_wrong(struct side *s, struct input *in)
{
	static uint8_t buf[MSG_PAYLOAD_MAX + 2 * sizeof(struct msg_hdr)];
	uint8_t how = take_u8(in);
	struct msg_hdr h = { .type = take_u8(in), .conn = take_u8(in),
	    .generation = s->c.generation, .request = s->put + 1 };
	struct iovec iov = { buf, sizeof(h) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	int on = 1;

	/* nothing is taken that is wrong in this way */
	if (h.type < MSG_COUNT && msg_handlers[h.type] != NULL && how % 8 < 2)
		how += 2;
	h.length = take_u16(in);
	h.generation += how % 8 == 2;
	iov.iov_len += how % 8 == 3 ? MSG_PAYLOAD_MAX + 1 : h.length;
	memcpy(buf, &h, sizeof(h));
	if (how % 8 == 4)
		iov.iov_len = h.length % sizeof(h);
	else if (how % 8 == 5)
		iov.iov_len++;
	else if (how % 8 == 6 && chan_is_open(&s->c)) {
		/* they leave no place for an fd */
		(void)setsockopt(s->c.fd, SOL_SOCKET, SO_PASSCRED, &on,
		    sizeof(on));
		s->loses = true;
	}
	/* two at least, if it could be right but for them */
	put_control(&mh, how % 8 == 7 ? (uint8_t)(2 + how / 32 % 2) :
	    how / 32, &s->end_fd);
	if (how % 8 == 6)
		iov.iov_len = sizeof(h) - 1;
	(void)sendmsg(s->end_fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes what was sent to it. */
static void
hear(struct side *s, unsigned int most)
{
	struct msg m;

	while (most-- > 0 && s->end_fd != -1 && chan_hear(s->end_fd, &m)) {
		must(m.hdr.type == MSG_STOP || m.hdr.type == MSG_KEY_MAKE);
		must(m.hdr.generation == s->c.generation);
		/* EPIPE means that the peer has gone: nothing is queued */
		must(m.hdr.request == s->heard || (fails &&
		    m.hdr.request > s->heard));
		must(m.hdr.request < s->sent);
		must(is_filled(m.next, m.left, m.hdr.request));
		if (m.fd != -1)
			close(m.fd);
		s->heard = m.hdr.request + 1;
	}
}

/* -- a step ---------------------------------------------------------------- */

/* A turn in which nobody gets another descriptor, on either link. */
static void
turn_without_fds(const struct side *s)
{
	struct rlimit was, none;
	int free_fd = dup(s->end_fd);
	size_t i;

	must(free_fd != -1);
	must(getrlimit(RLIMIT_NOFILE, &was) == 0);
	close(free_fd);
	none = was;
	none.rlim_cur = (rlim_t)free_fd;
	must(setrlimit(RLIMIT_NOFILE, &none) == 0);
	for (i = 0; i < LINKS; i++)
		sides[i].loses = true;
	turn(1);
	must(setrlimit(RLIMIT_NOFILE, &was) == 0);
}

/* Waits for a message, but only where there is one or an end. */
static void
receive_one(struct side *s)
{
	struct pollfd p = { .fd = s->c.fd, .events = POLLIN };

	if (!chan_is_open(&s->c) || poll(&p, 1, 0) != 1)
		return;
	fault_begin();
	(void)chan_recv_one(&s->c);
	fault_end();
}

static void
send_some(struct side *s, struct input *in)
{
	uint8_t how = take_u8(in), n = how & 8 ? take_u8(in) : 1;
	size_t len = take_u16(in) * (how & 16 ? 2U : 1U);

	if (len > MSG_PAYLOAD_MAX + 1)
		len = MSG_PAYLOAD_MAX + 1;
	for (; n > 0; n--)
		send_one(s, len, how);
}

static void
act(struct side *s, uint8_t what, struct input *in)
{
	switch (what % 12) {
	case 0:
	case 1:
		put_right(s, in);
		break;
	case 2:
		put_wrong(s, in);
		break;
	case 3:
	case 4:
		send_some(s, in);
		break;
	case 5:
		hear(s, take_u8(in));
		break;
	case 6:
		turn(take_u8(in));
		break;
	case 7:
		chan_pause(&s->c, (take_u8(in) & 1) != 0);
		break;
	case 8:
		receive_one(s);
		break;
	case 9:
		turn_without_fds(s);
		break;
	case 10:
		close(s->end_fd);
		s->end_fd = -1;
		break;
	default:
		fault_begin();
		chan_drain(&s->c, take_u8(in));
		fault_end();
		break;
	}
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t i;

	(void)argc;
	(void)argv;
	signal(SIGPIPE, SIG_IGN);
	quiet();
	must(loop_init() == 0);
	for (i = 0; i < LINKS; i++) {
		sides[i].end_fd = -1;
		chan_init(&sides[i].c, ROLE_NETPROC, ROLE_SPAWNER, gone, NULL);
	}
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int before = count_fds(), steps;
	struct input in;
	struct side *s;
	uint8_t what;
	size_t i;

	fails = fault_plan(&data, &len);
	in = (struct input){ data, len };
	for (i = 0; i < LINKS; i++)
		connect_side(&sides[i], take_u8(&in));
	for (steps = 0; in.left > 0 && steps < STEPS; steps++) {
		what = take_u8(&in);
		s = &sides[what >= 0x80];
		if (s->end_fd == -1)
			connect_side(s, what);
		else
			act(s, what & 0x7f, &in);
		turn(1);
	}
	/* who reads in the end has all of it, but where a link was cut */
	for (i = 0; i < LINKS; i++) {
		s = &sides[i];
		for (steps = 0; steps < 64 && s->end_fd != -1 &&
		    s->heard < s->sent; steps++) {
			hear(s, 256);
			turn(1);
		}
		must(fails || !chan_is_open(&s->c) || s->end_fd == -1 ||
		    s->heard == s->sent);
		if (s->end_fd != -1)
			close(s->end_fd);
		s->end_fd = -1;
		chan_close(&s->c);
	}
	must(count_fds() == before);
	return 0;
}
