/* SPDX-License-Identifier: ISC */
/* QUOTA: what users may have, and what they have of it. */
#ifndef DL_NET_QUOTA_H
#define DL_NET_QUOTA_H

#include "netproc/text/line.h"
#include "wire/msg.h"

struct conn;
struct rsession;

void	cmd_quota(struct conn *, struct rsession *, const struct words *);

int	net_on_quota_rows(struct msg *);

#endif
