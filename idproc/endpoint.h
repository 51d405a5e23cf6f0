/* SPDX-License-Identifier: ISC */
/*
 * The two ends of a TCP connection.  IPv4 addresses have one form: what the
 * kernel shows as ::ffff:a.b.c.d is AF_INET here.
 */
#ifndef DL_ENDPOINT_H
#define DL_ENDPOINT_H

#include <sys/socket.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct endpoint {
	int		family;		/* AF_INET, AF_INET6 */
	uint16_t	port;		/* host order */
	uint8_t		addr[16];	/* network order; 4 bytes for AF_INET */
	uint32_t	scope;		/* link-local IPv6, else 0 */
};

/* As an accepted connection sees it. */
struct ends {
	struct endpoint	local, peer;
};

#define ENDPOINT_TEXT	80

/* Takes the bytes of a sockaddr_in or sockaddr_in6; -1 for anything else. */
int	 endpoint_set(struct endpoint *, const void *sa, size_t len);
bool	 endpoint_is_loopback(const struct endpoint *);
bool	 endpoint_is_any(const struct endpoint *);
/* Addresses only; scopes differ when both are given and unlike. */
bool	 endpoint_same_addr(const struct endpoint *, const struct endpoint *);
/* "127.0.0.1:80", "[::1]:80"; returns buf. */
const char *endpoint_text(const struct endpoint *, char buf[ENDPOINT_TEXT]);
/*
 * Both ends of a connected TCP socket, which is borrowed and not trusted.
 * NULL when they are there, else what is wrong with the socket.
 */
const char *ends_of(int sock_fd, struct ends *);

/* A stream socket of this host, whose peer has credentials. */
bool	 endpoint_is_local(int sock_fd);

#endif
