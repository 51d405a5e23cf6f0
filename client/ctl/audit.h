/* SPDX-License-Identifier: ISC */
/* audit: who did what. */
#ifndef CLIENT_CTL_AUDIT_H
#define CLIENT_CTL_AUDIT_H

struct client;

int	ctl_audit(struct client *, int, char **);

#endif
