/* SPDX-License-Identifier: ISC */
/* Uploads: quota, room, seals and what was uploaded. */
#ifndef SPAWNER_UPLOAD_H
#define SPAWNER_UPLOAD_H

#include <stdint.h>

#include "spawner/session/session.h"

/* Before confinement: how many sessions the limit of open fds admits. */
void	upload_init(void);
/* Half uploads of one connection, and of all. */
void	upload_drop_conn(uint32_t conn);
void	upload_drop_all(void);
/* The image or bundle is complete: the session can be seen and started. */
void	upload_loaded(struct session *, struct asker *);
/* How many bytes quotas leave that user now. */
uint64_t upload_room(const struct owner *);
/* The setting that limits it: "quota default bytes", "max-total-bytes". */
void	 upload_room_name(const struct owner *, char *text, size_t);
/* True when it was answered: a session of so many bytes would be too much. */
bool	 upload_is_full(struct asker *, uint64_t bytes);
/* ERR_OK, or why the owner cannot have so many more bytes. */
enum err upload_too_large(const struct owner *, uint64_t size, char *text,
	    size_t text_size);

#endif
