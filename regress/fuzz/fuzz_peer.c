/* SPDX-License-Identifier: ISC */
/* links: idproc/diag.c idproc/endpoint.c idproc/rules.c */
/* covers: idproc/diag.c idproc/endpoint.c idproc/rules.c */
/*
 * Fuzz target of who is at the other end: addresses as the parent and the
 * kernel give them, the set of listeners, and the kernel's datagrams about
 * sockets.  The input's datagrams come by a socket as the kernel's would.
 */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "idproc/diag.h"
#include "idproc/rules.h"

static struct sockaddr_storage
take_address(struct input *in, size_t *len)
{
	struct sockaddr_storage ss = { .ss_family = AF_INET };
	uint8_t how = take_u8(in);

	*len = sizeof(struct sockaddr_in);
	if (how & 1) {
		ss.ss_family = AF_INET6;
		*len = sizeof(struct sockaddr_in6);
	}
	take(in, (char *)&ss + sizeof(sa_family_t), how & 2 ? *len -
	    sizeof(sa_family_t) : 6);
	/* an IPv4 address in the other's clothes */
	if ((how & 5) == 5) {
		memset((char *)&ss + 8, 0, 10);
		memset((char *)&ss + 18, 0xff, 2);
	}
	if (how & 8)
		*len = take_u8(in) % sizeof(ss);
	if (how & 16)
		take(in, &ss.ss_family, sizeof(ss.ss_family));
	return ss;
}

static bool
take_endpoint(struct input *in, struct endpoint *e)
{
	size_t len;
	struct sockaddr_storage ss = take_address(in, &len);
	char text[ENDPOINT_TEXT], *copy = copy_of(&ss, len, false);
	int r = endpoint_set(e, copy, len);

	free(copy);
	if (r == -1)
		return false;
	must(e->family == AF_INET || e->family == AF_INET6);
	must(endpoint_same_addr(e, e));
	must(strlen(endpoint_text(e, text)) >= 6);
	must(!(endpoint_is_loopback(e) && endpoint_is_any(e)));
	return true;
}

static void
take_rules(struct input *in)
{
	unsigned int n = take_u8(in) % 70;
	const struct rule *r;
	struct endpoint e;

	for (; n > 0; n--) {
		size_t len;
		struct sockaddr_storage ss = take_address(in, &len);

		(void)rules_add(take_u8(in), take_u32(in), &ss, len);
	}
	rules_commit();
	for (n = 0; n < 4; n++) {
		if (!take_endpoint(in, &e))
			continue;
		r = rules_find(&e);
		must(r == NULL || r->at.port == e.port);
	}
}

/* Makes the kernel's answer about the connection, changed by the input. */
static size_t
make_datagram(uint8_t *buf, const struct ends *e, struct input *in)
{
	struct nlmsghdr nlh = { .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	    .nlmsg_seq = 5 };
	struct inet_diag_msg d = { .idiag_state = 1, .idiag_inode = 9 };
	uint8_t how = take_u8(in);
	size_t len = sizeof(nlh), rest = take_u8(in);

	d.idiag_family = (uint8_t)(how & 1 ? e->peer.family : AF_INET6);
	memcpy(d.id.idiag_src, e->peer.addr, 16);
	memcpy(d.id.idiag_dst, e->local.addr, 16);
	if (!(how & 1)) {
		memset(d.id.idiag_src, 0, 16);
		memset((char *)d.id.idiag_src + 10, 0xff, 2);
		memcpy((char *)d.id.idiag_dst, d.id.idiag_src, 16);
		memcpy((char *)d.id.idiag_src + 12, e->peer.addr, 4);
		memcpy((char *)d.id.idiag_dst + 12, e->local.addr, 4);
	}
	d.id.idiag_sport = htons(e->peer.port);
	d.id.idiag_dport = htons(e->local.port);
	if (how & 2)
		take(in, &d, 8);
	if (how & 4)
		d.idiag_state = take_u8(in) % 13;
	if (how & 8)
		nlh.nlmsg_type = take_u8(in) & 1 ? NLMSG_ERROR : NLMSG_DONE;
	if (how & 16)
		d.idiag_inode = 0;
	if (how & 64)
		nlh.nlmsg_seq = take_u32(in);
	if (nlh.nlmsg_type == SOCK_DIAG_BY_FAMILY) {
		memcpy(buf + len, &d, sizeof(d));
		len += sizeof(d);
	}
	take(in, buf + len, rest);
	len += rest;
	nlh.nlmsg_len = (uint32_t)len;
	if (how & 32)
		nlh.nlmsg_len = take_u16(in);
	memcpy(buf, &nlh, sizeof(nlh));
	return how & 128 ? take_u8(in) % (len + 1) : len;
}

static void
take_datagram(struct input *in)
{
	uint8_t buf[512];
	struct diag_socket s = { 0 };
	struct ends e;
	size_t len;
	char *p;
	int r;

	if (!take_endpoint(in, &e.peer) || !take_endpoint(in, &e.local))
		return;
	len = make_datagram(buf, &e, in);
	p = copy_of(buf, len, false);
	r = diag_parse(p, len, 5, &e, &s);
	must(r >= -1 && r <= DIAG_FAILED);
	must(r != DIAG_FOUND || s.inode != 0);
	free(p);
}

/* Real sockets, and the kernel's real answers. */
static void
ask_kernel(struct input *in)
{
	static int nl_fd = -1, unix_fds[2], tcp_fd;
	struct diag_socket s;
	struct ends e;

	if (nl_fd == -1) {
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fds) == 0);
		tcp_fd = socket(AF_INET, SOCK_STREAM, 0);
		nl_fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
		must(nl_fd != -1 && tcp_fd != -1 && !diag_is_open());
		must(diag_open(dup(tcp_fd)) == -1);
		must(diag_open(dup(nl_fd)) == 0 && diag_open(nl_fd) == 0);
	}
	must(endpoint_is_local(unix_fds[0]) && !endpoint_is_local(tcp_fd));
	must(ends_of(unix_fds[0], &e) != NULL && ends_of(tcp_fd, &e) != NULL);
	if (take_endpoint(in, &e.peer) && take_endpoint(in, &e.local))
		must(diag_find(&e, &s) != DIAG_FOUND);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };

	switch (take_u8(&in) % 8) {
	case 0:
		ask_kernel(&in);
		break;
	case 1:
	case 2:
		take_rules(&in);
		break;
	default:
		take_datagram(&in);
		break;
	}
	return 0;
}
