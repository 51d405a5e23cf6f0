/* SPDX-License-Identifier: ISC */
/* Commands about the daemon and its host. */
#ifndef DL_NET_ABOUT_H
#define DL_NET_ABOUT_H

#include "netproc/text/line.h"
#include "wire/msg.h"

struct conn;
struct rsession;

void	cmd_version(struct conn *, struct rsession *, const struct words *);
void	cmd_help(struct conn *, struct rsession *, const struct words *);
void	cmd_deps(struct conn *, struct rsession *, const struct words *);
void	cmd_activity(struct conn *, struct rsession *, const struct words *);

int	net_on_backoff(struct msg *);
int	net_on_mdns(struct msg *);
int	net_on_tls_fingerprint(struct msg *);
int	net_on_deps_rows(struct msg *);
int	net_on_activity_lines(struct msg *);

#endif
