/* SPDX-License-Identifier: ISC */
/*
 * tlsproc's system calls beside those of every role: it accepts and makes
 * pairs; it cannot connect, listen, or open a file.
 */
#include <sys/socket.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "sysfilter.h"

#define PAIR	(SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)
#define OPTION(level, name)						\
	ALLOW_ARG(setsockopt, FILTER_INT(1, level), FILTER_INT(2, name))

static const struct filter_rule rules[] = {
	ALLOW(accept4), ALLOW(shutdown),
	ALLOW_ARG(socketpair, FILTER_INT(0, AF_UNIX), FILTER_INT(1, PAIR),
	    FILTER_INT(2, 0)),
	OPTION(IPPROTO_TCP, TCP_NODELAY),
	OPTION(IPPROTO_TCP, TCP_KEEPIDLE),
	OPTION(IPPROTO_TCP, TCP_KEEPINTVL),
	OPTION(SOL_SOCKET, SO_KEEPALIVE),
	OPTION(SOL_SOCKET, SO_SNDBUF),
	/* a copy of a connection for idproc to look at */
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
};

const struct filter tlsproc_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
