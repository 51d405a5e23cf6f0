/* SPDX-License-Identifier: ISC */
/*
 * A connection on which nothing is asked: the daemon stays while somebody is
 * connected (exit-idle), and with it what programs that have ended have left.
 */
#ifndef CLIENT_MCP_KEEPALIVE_H
#define CLIENT_MCP_KEEPALIVE_H

/* The daemon's local socket; borrowed. */
void	keepalive_init(const char *path);
/* There is something to stay for, from now on. */
void	keepalive_begin(void);
/* For poll(2); -1 = there is none. */
int	keepalive_fd(void);
/* Something can be read: that it is closed. */
void	keepalive_run(void);
void	keepalive_end(void);

#endif
