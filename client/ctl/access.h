/* SPDX-License-Identifier: ISC */
/* Commands about who may do what: identity, sharing, quotas. */
#ifndef CLIENT_CTL_ACCESS_H
#define CLIENT_CTL_ACCESS_H

struct client;

int	ctl_fingerprint(struct client *, int, char **);
int	ctl_quota(struct client *, int, char **);
int	ctl_share(struct client *, int, char **);
int	ctl_share_accept(struct client *, int, char **);
int	ctl_whoami(struct client *, int, char **);

#endif
