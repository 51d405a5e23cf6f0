/* SPDX-License-Identifier: ISC */
/* Which hosts' certificates are trusted. */
#ifndef CLIENT_CTL_KNOWN_H
#define CLIENT_CTL_KNOWN_H

#include <stdbool.h>

struct target;

/* "SHA256:" and 43 characters of base64, and a NUL */
#define FINGERPRINT_TEXT	51

/*
 * Whether the host is known, at the target's port when one was given, else at
 * any, which becomes the target's port. An exit code, after a report unless
 * it is CTL_OK.
 */
int	known_port(struct target *, bool *known);

/*
 * Decides about a certificate. given: the one fingerprint that will do, or
 * NULL. CTL_OK; *asked is set when a person was asked and said yes, which
 * takes its time. CTL_UNREACHABLE or CTL_USAGE after a report.
 */
int	known_check(const struct target *, const char *fingerprint,
	    const char *given, bool *asked);

/* Whether a text has the form of a fingerprint. */
bool	fingerprint_valid(const char *);

#endif
