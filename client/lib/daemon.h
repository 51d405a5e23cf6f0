/* SPDX-License-Identifier: ISC */
/* The user's own daemon, started when it is needed. */
#ifndef CLIENT_LIB_DAEMON_H
#define CLIENT_LIB_DAEMON_H

struct target;

/*
 * Starts a daemon that listens at the target's local socket alone, unless one
 * does meanwhile, and connects to it. A non-blocking socket, the caller's to
 * close; -1 and *code, an exit code, after a report.
 */
int	daemon_start(const struct target *, int *code);

/* A program beside this one; freed by the caller, NULL when it is not there. */
char	*daemon_beside(const char *name);

#endif
