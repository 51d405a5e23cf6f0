/* SPDX-License-Identifier: ISC */
/* Commands about the target itself. */
#ifndef CLIENT_CTL_HOST_H
#define CLIENT_CTL_HOST_H

struct client;

int	ctl_activity(struct client *, int, char **);
int	ctl_deps(struct client *, int, char **);
int	ctl_version(struct client *, int, char **);

#endif
