/* SPDX-License-Identifier: ISC */
/* Bytes both ways between a connection and two descriptors. */
#ifndef CTL_RELAY_H
#define CTL_RELAY_H

struct conn;

/*
 * Copies until the daemon closes. The end of in_fd is passed on as the end
 * of what we send. All three are borrowed. An exit code.
 */
int	relay(struct conn *, int in_fd, int out_fd);

#endif
