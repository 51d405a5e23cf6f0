/* SPDX-License-Identifier: ISC */
/* Uploads: quota, room, seals and what was uploaded. */
#ifndef SPAWNER_UPLOAD_H
#define SPAWNER_UPLOAD_H

#include <stdint.h>

#include "session.h"

/* Before confinement: how many sessions the limit of open fds admits. */
void	upload_init(void);
/* Half uploads of one connection, and of all. */
void	upload_drop_conn(uint32_t conn);
void	upload_drop_all(void);
/* The image or bundle is complete: the session can be seen and started. */
void	upload_loaded(struct session *, struct asker *);
/* How many bytes the quota has left. */
uint64_t upload_room(void);

#endif
