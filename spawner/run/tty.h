/* SPDX-License-Identifier: ISC */
/*
 * The terminal of a run: its master is read into the ring and written with
 * what users type, and never leaves the spawner.
 */
#ifndef SPAWNER_TTY_H
#define SPAWNER_TTY_H

#include <stdint.h>

#include "spawner/session/session.h"

/* A number of columns or rows that can be; 0 = usual. */
uint32_t	 tty_clamp(uint32_t n, uint32_t usual);

/* NULL with errno. */
struct tty	*tty_new(struct session *);
void		 tty_free(struct tty *);
/*
 * Takes the master, for start.tty.  -1 with errno when it cannot be watched.
 */
int		 tty_watch(struct session *, int fd);
/* Types the character that ends input, and answers. */
void		 tty_end_input(struct session *, struct asker *);
/* The run has begun: a size that came meanwhile takes effect. */
void		 tty_started(struct session *);
/* The program has ended, others of its tree may have the terminal still. */
void		 tty_leader_ended(struct session *);
/* The tree is gone: takes what is left and closes the master. */
void		 tty_finish(struct session *);
/* That connection has lost its rights: what it typed and waits is dropped. */
void		 tty_drop_input(uint32_t conn);
/* There is more that may be read of it again. */
void		 tty_resume(struct session *);

#endif
