/* SPDX-License-Identifier: ISC */
/* audit: who did what. */
#ifndef CTL_AUDIT_H
#define CTL_AUDIT_H

struct client;

int	cmd_audit(struct client *, int, char **);

#endif
