/* SPDX-License-Identifier: ISC */
/* A daemon's local socket through the user's own ssh. */
#ifndef CLIENT_LIB_SSH_H
#define CLIENT_LIB_SSH_H

#include <sys/types.h>

#include <stdbool.h>

struct target;

struct ssh {
	pid_t	pid;		/* 0: none */
	pid_t	errors_pid;	/* prints what ssh says */
	bool	ours;		/* a program that tells why it ends */
};

/*
 * Starts ssh. A non-blocking socket, the caller's to close, that stands for
 * the other host's; -1 after a report.
 */
int	ssh_start(struct ssh *, const struct target *);

/* The same with a program of ours in its place, found as execvp(3) does. */
int	ssh_start_ours(struct ssh *, const char *const *argv);

/*
 * Waits for the end of an ssh whose socket has been closed or has come to
 * its end. After an end that was not expected it tells why. An exit code.
 */
int	ssh_end(struct ssh *, const struct target *, int unexpected);

#endif
