/* SPDX-License-Identifier: ISC */
/* Asking the kernel by netlink for one socket, and reading the answer. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"

/*
 * The index of "lo" in every network namespace.  A client that bound itself
 * to the device is found by it, and so is one that did not.
 */
#define LO_INDEX	1

/* An answer has one inet_diag_msg and a few small attributes. */
#define ANSWER_MAX	2048
#define TRIES		4

struct request {
	struct nlmsghdr		nlh;
	struct inet_diag_req_v2	req;
};

static int		diag_fd = -1;
static uint32_t		last_seq;

static bool
option_is(int fd, int name, int want)
{
	socklen_t len = sizeof(int);
	int got;

	return getsockopt(fd, SOL_SOCKET, name, &got, &len) == 0 &&
	    got == want;
}

int
diag_open(int netlink_fd)
{
	if (!option_is(netlink_fd, SO_DOMAIN, AF_NETLINK) ||
	    !option_is(netlink_fd, SO_PROTOCOL, NETLINK_SOCK_DIAG)) {
		close(netlink_fd);
		return -1;
	}
	if (diag_fd != -1)
		close(diag_fd);
	diag_fd = netlink_fd;
	return 0;
}

bool
diag_is_open(void)
{
	return diag_fd != -1;
}

/* The client's socket has our peer as its own address, and us as its peer. */
static void
fill(struct request *r, const struct ends *e)
{
	struct inet_diag_sockid *id = &r->req.id;

	memset(r, 0, sizeof(*r));
	r->nlh.nlmsg_len = sizeof(*r);
	r->nlh.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	r->nlh.nlmsg_flags = NLM_F_REQUEST;
	r->nlh.nlmsg_seq = ++last_seq;
	r->req.sdiag_family = (uint8_t)e->peer.family;
	r->req.sdiag_protocol = IPPROTO_TCP;
	r->req.idiag_states = UINT32_MAX;
	id->idiag_sport = htons(e->peer.port);
	id->idiag_dport = htons(e->local.port);
	memcpy(id->idiag_src, e->peer.addr, sizeof(e->peer.addr));
	memcpy(id->idiag_dst, e->local.addr, sizeof(e->local.addr));
	id->idiag_if = e->peer.scope != 0 ? e->peer.scope : LO_INDEX;
	id->idiag_cookie[0] = INET_DIAG_NOCOOKIE;
	id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
}

/* An IPv4 connection of an AF_INET6 socket is told with mapped addresses. */
static bool
same(int family, const void *addr, uint16_t port, const struct endpoint *e)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *a = addr;

	if (ntohs(port) != e->port)
		return false;
	if (family == e->family)
		return memcmp(a, e->addr, family == AF_INET ? 4 : 16) == 0;
	return family == AF_INET6 && memcmp(a, mapped, 12) == 0 &&
	    memcmp(a + 12, e->addr, 4) == 0;
}

static uint64_t
find_cgroup(const uint8_t *p, size_t left)
{
	struct nlattr nla;
	uint64_t id;
	size_t step;

	while (left >= sizeof(nla)) {
		memcpy(&nla, p, sizeof(nla));
		if (nla.nla_len < sizeof(nla) || nla.nla_len > left)
			return 0;
		if (nla.nla_type == INET_DIAG_CGROUP_ID &&
		    nla.nla_len == sizeof(nla) + sizeof(id)) {
			memcpy(&id, p + sizeof(nla), sizeof(id));
			return id;
		}
		step = ((size_t)nla.nla_len + 3) & ~(size_t)3;
		if (step > left)
			return 0;
		p += step;
		left -= step;
	}
	return 0;
}

/* States in which the client may still speak to us. */
static bool
is_alive(uint8_t state)
{
	return state == TCP_ESTABLISHED || state == TCP_FIN_WAIT1 ||
	    state == TCP_FIN_WAIT2 || state == TCP_CLOSE_WAIT;
}

static enum diag_result
parse_socket(const uint8_t *p, size_t len, const struct ends *e,
    struct diag_socket *s)
{
	struct inet_diag_msg d;

	if (len < sizeof(d))
		return DIAG_NONE;
	memcpy(&d, p, sizeof(d));
	/* where no connection matches, the kernel tells of a listener */
	if (!same(d.idiag_family, d.id.idiag_src, d.id.idiag_sport, &e->peer) ||
	    !same(d.idiag_family, d.id.idiag_dst, d.id.idiag_dport, &e->local))
		return DIAG_NONE;
	/* a socket that is closed already reads as one of uid 0 */
	if (!is_alive(d.idiag_state) || d.idiag_inode == 0)
		return DIAG_CLOSED;
	s->uid = d.idiag_uid;
	s->inode = d.idiag_inode;
	s->cgroup = find_cgroup(p + NLMSG_ALIGN(sizeof(d)),
	    len - NLMSG_ALIGN(sizeof(d)));
	return DIAG_FOUND;
}

static enum diag_result
parse_error(const uint8_t *p, size_t len)
{
	int error;

	if (len < sizeof(error))
		return DIAG_NONE;
	memcpy(&error, p, sizeof(error));
	errno = -error;
	return errno == ENOENT ? DIAG_NONE : DIAG_FAILED;
}

int
diag_parse(const void *buf, size_t len, uint32_t seq, const struct ends *e,
    struct diag_socket *s)
{
	const uint8_t *p = buf;
	struct nlmsghdr nlh;

	if (len < sizeof(nlh))
		return -1;
	memcpy(&nlh, p, sizeof(nlh));
	if (nlh.nlmsg_len < sizeof(nlh) || nlh.nlmsg_len > len ||
	    nlh.nlmsg_seq != seq)
		return -1;
	p += NLMSG_HDRLEN;
	len = nlh.nlmsg_len - NLMSG_HDRLEN;
	if (nlh.nlmsg_type == NLMSG_ERROR)
		return (int)parse_error(p, len);
	if (nlh.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return -1;
	return (int)parse_socket(p, len, e, s);
}

/*
 * The kernel answers within the send, so nothing is waited for.  Datagrams
 * that another process sent, or that answer an older request, are passed by.
 */
static enum diag_result
receive(const struct ends *e, struct diag_socket *s)
{
	static uint8_t buf[ANSWER_MAX];
	struct sockaddr_nl from = { 0 };
	socklen_t len;
	ssize_t n;
	int i, r;

	for (i = 0; i < TRIES; i++) {
		len = sizeof(from);
		n = recvfrom(diag_fd, buf, sizeof(buf), MSG_DONTWAIT,
		    (struct sockaddr *)&from, &len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return DIAG_FAILED;
		if (len != sizeof(from) || from.nl_pid != 0)
			continue;
		r = diag_parse(buf, (size_t)n, last_seq, e, s);
		if (r != -1)
			return (enum diag_result)r;
	}
	errno = EPROTO;
	return DIAG_FAILED;
}

enum diag_result
diag_find(const struct ends *e, struct diag_socket *s)
{
	enum diag_result res = DIAG_FAILED;
	struct request r;
	int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < TRIES; i++) {
		fill(&r, e);
		if (sendto(diag_fd, &r, sizeof(r), MSG_DONTWAIT, NULL, 0) ==
		    (ssize_t)sizeof(r))
			res = receive(e, s);
		/* an overrun of the receive queue is told once, then over */
		if (res != DIAG_FAILED || (errno != ENOBUFS && errno != EINTR))
			break;
	}
	return res;
}
