/* SPDX-License-Identifier: ISC */
/* Connections by each kind of target. */
#ifndef CLIENT_CTL_OPEN_H
#define CLIENT_CTL_OPEN_H

struct conn;
struct target;
struct trust;

/*
 * Connects; the caller closes the result with dconn_close(). An exit code,
 * after a report unless it is CTL_OK. The target becomes how it was reached.
 * timeout_s bounds connecting (0: 10 s) and each wait for the daemon
 * afterwards (0: no bound; a dead host is noticed by keep-alive).
 */
int	conn_open(struct conn **, struct target *, const struct trust *,
	    unsigned int timeout_s);

#endif
