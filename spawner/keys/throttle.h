/* SPDX-License-Identifier: ISC */
/*
 * A client that tried wrong tokens too often has to wait between tries; no
 * other client does.  Addresses are counted by what one client has to itself:
 * an IPv4 address, an IPv6 network of 64 bits, or a local user.
 */
#ifndef SPAWNER_THROTTLE_H
#define SPAWNER_THROTTLE_H

#include <stdbool.h>

/* So many wrong tries are free; each that follows doubles the wait. */
#define THROTTLE_FREE		10
#define THROTTLE_FIRST_MS	1000
#define THROTTLE_MOST_MS	30000
/* Without a wrong try for so long all is forgotten. */
#define THROTTLE_FORGET_MS	(15 * 60 * 1000)
#define THROTTLE_MAX		4096

/*
 * "192.0.2.1:4000", "[2001:db8::1]:4000", either without port, or any other
 * text that stands for a client, like "uid 1001".  false: not now, but after
 * *wait_s seconds.
 */
bool	 throttle_may(const char *address, unsigned int *wait_s);
void	 throttle_wrong(const char *address);

#endif
