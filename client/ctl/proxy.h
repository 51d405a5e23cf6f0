/* SPDX-License-Identifier: ISC */
/* proxy: the far end of an ssh:// target. */
#ifndef CLIENT_CTL_PROXY_H
#define CLIENT_CTL_PROXY_H

struct client;

int	ctl_proxy(struct client *, int, char **);

#endif
