/* SPDX-License-Identifier: ISC */
/* Process set-up common to all clients. */
#ifndef CLIENT_LIB_START_H
#define CLIENT_LIB_START_H

/*
 * Opens those of fds 0 to 2 that the starter has closed: input is empty,
 * output fails.  Restores SIGCHLD's default, so that waitpid(2) works, and
 * ignores SIGPIPE.
 */
void	client_start(void);

#endif
