/* SPDX-License-Identifier: ISC */
/* Sessions that others may see or use: SHARE and UNSHARE. */
#ifndef SPAWNER_SHARE_H
#define SPAWNER_SHARE_H

#include "spawner/session/session.h"

/* Called when the access of other users to a session has changed. */
void	 share_init(void (*changed)(struct session *));

#endif
