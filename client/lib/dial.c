/* SPDX-License-Identifier: ISC */
/* TCP connections to a host, by its name or, where only multicast DNS knows
 * that, by the addresses it gave. */
#include <sys/socket.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <bsd/string.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "dial.h"
#include "report.h"
#include "stream.h"
#include "target.h"

/* A connected, non-blocking socket, or -1 and errno. */
static int
connect_one(const struct addrinfo *ai, int ms)
{
	int one = 1, error = 0, saved, sock_fd;
	socklen_t len = sizeof(error);
	struct stream s;

	sock_fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, 0);
	if (sock_fd == -1)
		return -1;
	stream_init(&s, sock_fd);
	if (connect(sock_fd, ai->ai_addr, ai->ai_addrlen) == -1) {
		if (errno != EINPROGRESS ||
		    stream_wait(&s, POLLOUT, ms, NULL) == -1 ||
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

/* To each of a host's addresses until one answers: a socket, or -1 and errno.
 * -1 and *error when there is no such host. */
static int
connect_host(const char *host, const char *port, int ms, int *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *ai;
	int sock_fd = -1;

	if ((*error = getaddrinfo(host, port, &hints, &list)) != 0)
		return -1;
	for (ai = list; ai != NULL && sock_fd == -1; ai = ai->ai_next)
		sock_fd = connect_one(ai, ms);
	freeaddrinfo(list);
	return sock_fd;
}

int
dial(const struct target *t, int ms, int *code)
{
	char addresses[sizeof(t->addresses)], text[TARGET_TEXT];
	char *next = addresses, *address;
	int error, sock_fd = -1;

	*code = CTL_UNREACHABLE;
	strlcpy(addresses, t->addresses, sizeof(addresses));
	/* The port is of the host that answered there, so is its address. */
	while (sock_fd == -1 && (address = strsep(&next, " ")) != NULL &&
	    *address != '\0')
		sock_fd = connect_host(address, t->port, ms, &error);
	if (sock_fd == -1)
		sock_fd = connect_host(t->host, t->port, ms, &error);
	if (sock_fd != -1)
		return sock_fd;
	if (error != 0)
		report("cannot find host %s: %s", t->host,
		    gai_strerror(error));
	else
		report("cannot reach %s: %s%s", target_text(t, text),
		    strerror(errno), errno == ECONNREFUSED ?
		    "; is debuglanternd running there?" : "");
	return -1;
}

bool
dial_is_local(const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6 *sin6 = (const void *)ss;
	const struct sockaddr_in *sin = (const void *)ss;
	const struct in6_addr *a = &sin6->sin6_addr;

	if (ss->ss_family == AF_UNIX)
		return true;
	if (ss->ss_family == AF_INET)
		return ntohl(sin->sin_addr.s_addr) >> 24 == 127;
	if (ss->ss_family != AF_INET6)
		return false;
	return IN6_IS_ADDR_LOOPBACK(a) ||
	    (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

bool
dial_same_host(const struct sockaddr_storage *a,
    const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a;
	const struct sockaddr_in6 *b6 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a->ss_family == AF_INET6 &&
	    IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}
