/* SPDX-License-Identifier: ISC */
/* AUDIT: what everybody did, for administrators. */
#ifndef DL_NET_AUDIT_H
#define DL_NET_AUDIT_H

#include "netproc/text/line.h"
#include "wire/msg.h"

struct conn;
struct rsession;

void	cmd_audit(struct conn *, struct rsession *, const struct words *);

int	net_on_audit_lines(struct msg *);

#endif
