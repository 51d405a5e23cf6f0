/* SPDX-License-Identifier: ISC */
/* The channels to the other roles. */
#ifndef SPAWNER_PEERS_H
#define SPAWNER_PEERS_H

#include <stdbool.h>

#include "msg.h"

struct session;

extern struct channel netproc_chan, idproc_chan, launcher_chan;

/* The daemon is stopping: nothing new is begun. */
extern bool shutting_down;

void	 peers_init(void);
/* A role was started (again): takes fd; what belonged to the old is dropped. */
void	 peer_replace(enum role, int fd, uint32_t generation);
/* Numbers that pair a question to another role with its answer; never 0. */
uint64_t next_serial(void);
/* Asks the parent to replace netproc; what was its own is dropped soon. */
void	 netproc_cut(const char *why);
/*
 * To be called for what users cause and the parent has to do: when it does
 * not keep up, netproc's requests wait until it does.
 */
void	 peers_pace(void);
/* A copy that chan_send() may take; -1 with errno. */
int	 fd_copy(int fd);
/* Closes *fd if it is open and marks it as closed. */
void	 fd_close(int *fd);
/*
 * Gives an image, bundle or archive to the launcher, which lets a process of no
 * importance close it: freeing its pages may take 100 ms.  Takes fd (-1 =
 * none).  The launcher also removes the cgroup that the session (NULL = none)
 * left behind.
 */
void	 sweep(const struct session *, int fd);

#endif
