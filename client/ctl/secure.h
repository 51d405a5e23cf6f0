/* SPDX-License-Identifier: ISC */
/* TLS to a daemon, and whom to believe. */
#ifndef CLIENT_CTL_SECURE_H
#define CLIENT_CTL_SECURE_H

#include <stdbool.h>

struct stream;
struct target;
struct trust;

/*
 * Makes a connected socket a TLS connection to a daemon that is trusted. It
 * takes sock_fd. An exit code, after a report unless it is CTL_OK; *asked as
 * with known_check().
 */
int	secure_start(struct stream *, int sock_fd, const struct target *,
	    const struct trust *, int ms, bool *asked);

#endif
