/* SPDX-License-Identifier: ISC */
/* Ends of TCP connections: from sockets, compared and printed. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "endpoint.h"

static void
set_v6(struct endpoint *e, const struct sockaddr_in6 *sin6)
{
	const struct in6_addr *a = &sin6->sin6_addr;

	e->port = ntohs(sin6->sin6_port);
	if (IN6_IS_ADDR_V4MAPPED(a)) {
		e->family = AF_INET;
		memcpy(e->addr, a->s6_addr + 12, 4);
		return;
	}
	e->family = AF_INET6;
	memcpy(e->addr, a->s6_addr, sizeof(e->addr));
	if (IN6_IS_ADDR_LINKLOCAL(a))
		e->scope = sin6->sin6_scope_id;
}

int
endpoint_set(struct endpoint *e, const void *sa, size_t len)
{
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;
	sa_family_t family;

	memset(e, 0, sizeof(*e));
	if (len < sizeof(family))
		return -1;
	/* the bytes come out of a message: not aligned */
	memcpy(&family, sa, sizeof(family));
	if (family == AF_INET && len == sizeof(sin)) {
		memcpy(&sin, sa, sizeof(sin));
		e->family = AF_INET;
		e->port = ntohs(sin.sin_port);
		memcpy(e->addr, &sin.sin_addr, 4);
		return 0;
	}
	if (family == AF_INET6 && len == sizeof(sin6)) {
		memcpy(&sin6, sa, sizeof(sin6));
		set_v6(e, &sin6);
		return 0;
	}
	return -1;
}

bool
endpoint_is_loopback(const struct endpoint *e)
{
	if (e->family == AF_INET)
		return e->addr[0] == 127;
	return memcmp(e->addr, &in6addr_loopback, sizeof(e->addr)) == 0;
}

bool
endpoint_is_any(const struct endpoint *e)
{
	static const uint8_t zero[sizeof(e->addr)];

	return memcmp(e->addr, zero, sizeof(zero)) == 0;
}

bool
endpoint_same_addr(const struct endpoint *a, const struct endpoint *b)
{
	if (a->family != b->family ||
	    memcmp(a->addr, b->addr, sizeof(a->addr)) != 0)
		return false;
	return a->scope == b->scope || a->scope == 0 || b->scope == 0;
}

const char *
endpoint_text(const struct endpoint *e, char buf[ENDPOINT_TEXT])
{
	char addr[INET6_ADDRSTRLEN];

	if (inet_ntop(e->family, e->addr, addr, sizeof(addr)) == NULL)
		(void)snprintf(addr, sizeof(addr), "?");
	(void)snprintf(buf, ENDPOINT_TEXT, e->family == AF_INET6 ?
	    "[%s]:%u" : "%s:%u", addr, e->port);
	return buf;
}

static bool
option_is(int fd, int name, int want)
{
	socklen_t len = sizeof(int);
	int got;

	return getsockopt(fd, SOL_SOCKET, name, &got, &len) == 0 &&
	    len == sizeof(got) && got == want;
}

static bool
is_tcp(int fd)
{
	return (option_is(fd, SO_DOMAIN, AF_INET) ||
	    option_is(fd, SO_DOMAIN, AF_INET6)) &&
	    option_is(fd, SO_TYPE, SOCK_STREAM) &&
	    option_is(fd, SO_PROTOCOL, IPPROTO_TCP);
}

bool
endpoint_is_local(int sock_fd)
{
	return option_is(sock_fd, SO_DOMAIN, AF_UNIX) &&
	    option_is(sock_fd, SO_TYPE, SOCK_STREAM);
}

const char *
ends_of(int sock_fd, struct ends *e)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (!is_tcp(sock_fd))
		return "not a TCP socket";
	if (getsockname(sock_fd, (struct sockaddr *)&ss, &len) == -1 ||
	    endpoint_set(&e->local, &ss, len) == -1)
		return "no local address";
	len = sizeof(ss);
	if (getpeername(sock_fd, (struct sockaddr *)&ss, &len) == -1 ||
	    endpoint_set(&e->peer, &ss, len) == -1)
		return "not connected any more";
	return NULL;
}
