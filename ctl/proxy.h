/* SPDX-License-Identifier: ISC */
/* proxy: the far end of an ssh:// target. */
#ifndef CTL_PROXY_H
#define CTL_PROXY_H

struct client;

int	cmd_proxy(struct client *, int, char **);

#endif
