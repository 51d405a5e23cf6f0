/* SPDX-License-Identifier: ISC */
/* Recording what a session's terminal shows. */
#ifndef CTL_RECORD_H
#define CTL_RECORD_H

struct client;

int	cmd_record(struct client *, int, char **);

#endif
