/* SPDX-License-Identifier: ISC */
/* Which daemon is meant, and how it is reached. */
#ifndef CLIENT_LIB_TARGET_H
#define CLIENT_LIB_TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum target_kind {
	TARGET_DEFAULT,		/* none was given: a local socket, else TCP */
	TARGET_HOST,		/* a host: TLS if it is known to speak it */
	TARGET_PLAIN,		/* TCP without TLS */
	TARGET_TLS,
	TARGET_UNIX,
	TARGET_SSH,
};

struct target {
	enum target_kind kind;
	char	host[256];
	char	port[6];
	bool	port_given;
	char	user[64];	/* ssh: "" for what ssh's configuration says */
	char	path[108];	/* of a local socket */
	bool	socket_only;	/* TARGET_DEFAULT is not to try TCP */
	/*
	 * Answers of multicast DNS, "" for none. Anybody on the network can
	 * send them.
	 */
	char	addresses[256];	/* with spaces between */
	char	announced[64];	/* fingerprint */
};

/* Trust options of the command line; each may be NULL. Borrowed. */
struct trust {
	const char	*fingerprint;
	const char	*ca;		/* file: believed instead */
	const char	*cert;		/* of ours, with key */
	const char	*key;
};

#define TARGET_FORMS \
	"give HOST, HOST:PORT or [IPV6]:PORT with a port from 1 to 65535, " \
	"tls://HOST[:PORT], tcp://HOST[:PORT], unix:PATH or " \
	"ssh://[USER@]HOST[:PORT]"

/* Reads one of TARGET_FORMS; -1 when it is none, the caller reports. */
int	target_parse(struct target *, const char *);

/* The form that target_parse() reads; buf holds TARGET_TEXT bytes. */
#define TARGET_TEXT	400
const char *target_text(const struct target *, char *buf);

/* "[host]:port", the name of a host's key; buf as above. */
const char *target_key(const struct target *, char *buf);

/* Whether the host is this one, by its name or address. */
bool	target_is_loopback(const struct target *);

/* Sets the target that TARGET_DEFAULT means without a local socket. */
void	target_no_socket(struct target *);

#endif
