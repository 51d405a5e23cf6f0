/* SPDX-License-Identifier: ISC */
/* SYSROOT: the packed libraries of this host. */
#ifndef DL_NET_SYSROOT_H
#define DL_NET_SYSROOT_H

#include "netproc/text/line.h"
#include "wire/msg.h"

struct conn;
struct rsession;

void	cmd_sysroot(struct conn *, struct rsession *, const struct words *);

int	net_on_sysroot_fd(struct msg *);

#endif
