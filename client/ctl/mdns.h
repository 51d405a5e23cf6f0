/* SPDX-License-Identifier: ISC */
/* Targets that announce themselves on the local network. */
#ifndef CLIENT_CTL_MDNS_H
#define CLIENT_CTL_MDNS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct target;

/*
 * Looks for targets until all that is known is found, wait_ms at most. The
 * array is the caller's to put. An exit code, after a report unless it is
 * CTL_OK.
 */
int	mdns_search(struct json_object **foundp, int64_t wait_ms);

/*
 * Looks for one host; tls: only TLS will do. When it is found the target has
 * its kind, port, address and fingerprint. Says nothing about trouble.
 */
bool	mdns_lookup(struct target *, bool tls);

#endif
