/* SPDX-License-Identifier: ISC */
/*
 * The system calls that netproc may make beyond those of every role: it
 * accepts, listens on debug ports, fills uploads.  It cannot connect, open a
 * file, start a process, or make a socket of another kind than TCP.
 */
#include <sys/socket.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "sysfilter.h"

#define TCP_SOCKET	(SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC)
#define OPTION(level, name)						\
	ALLOW_ARG(setsockopt, FILTER_INT(1, level), FILTER_INT(2, name))

static const struct filter_rule rules[] = {
	ALLOW(accept4),
	ALLOW_ARG(socket, FILTER_INT(0, AF_INET), FILTER_INT(1, TCP_SOCKET),
	    FILTER_INT(2, 0)),
	ALLOW_ARG(socket, FILTER_INT(0, AF_INET6), FILTER_INT(1, TCP_SOCKET),
	    FILTER_INT(2, 0)),
	ALLOW(bind), ALLOW(listen), ALLOW(getsockname), ALLOW(shutdown),
	OPTION(IPPROTO_TCP, TCP_NODELAY),
	OPTION(IPPROTO_TCP, TCP_KEEPIDLE),
	OPTION(IPPROTO_TCP, TCP_KEEPINTVL),
	OPTION(IPPROTO_TCP, TCP_CORK),
	OPTION(IPPROTO_TCP, TCP_NOTSENT_LOWAT),
	OPTION(SOL_SOCKET, SO_KEEPALIVE),
	/* uploads and the sysroot */
	ALLOW(pwrite64), ALLOW(sendfile), ALLOW(pread64),
	/* a copy of a connection for idproc to look at */
	ALLOW_ARG(fcntl, FILTER_INT(1, F_DUPFD_CLOEXEC)),
};

const struct filter netproc_filter = {
	.otherwise = SCMP_ACT_KILL_PROCESS,
	.matched = SCMP_ACT_ALLOW,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.with_base = 1,
};
