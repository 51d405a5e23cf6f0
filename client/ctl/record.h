/* SPDX-License-Identifier: ISC */
/* Recording what a session's terminal shows. */
#ifndef CLIENT_CTL_RECORD_H
#define CLIENT_CTL_RECORD_H

struct client;

int	ctl_record(struct client *, int, char **);

#endif
