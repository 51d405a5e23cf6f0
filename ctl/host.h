/* SPDX-License-Identifier: ISC */
/* Commands about the target itself. */
#ifndef CTL_HOST_H
#define CTL_HOST_H

struct client;

int	cmd_activity(struct client *, int, char **);
int	cmd_deps(struct client *, int, char **);
int	cmd_version(struct client *, int, char **);

#endif
