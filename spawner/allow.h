/* SPDX-License-Identifier: ISC */
/* Checks of netproc's requests, before a handler sees them. */
#ifndef SPAWNER_ALLOW_H
#define SPAWNER_ALLOW_H

#include "wire/msg.h"

/* For peers_init(): netproc alone asks for others, and less for guests. */
int	 allow_request(struct msg *, const struct msg_row *);

#endif
