/* SPDX-License-Identifier: ISC */
/*
 * A connection on which nothing is asked: the daemon stays while somebody is
 * connected (exit-idle), and with it what programs that have ended have left.
 */
#ifndef CLIENT_MCP_HOLD_H
#define CLIENT_MCP_HOLD_H

/* The daemon's local socket; borrowed. */
void	hold_init(const char *path);
/* There is something to stay for, from now on. */
void	hold_begin(void);
/* For poll(2); -1 = there is none. */
int	hold_fd(void);
/* Something can be read: that it is closed. */
void	hold_run(void);
void	hold_end(void);

#endif
