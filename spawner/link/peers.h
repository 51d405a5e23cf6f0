/* SPDX-License-Identifier: ISC */
/* The channels to the other roles. */
#ifndef SPAWNER_PEERS_H
#define SPAWNER_PEERS_H

#include <stdbool.h>

#include "wire/msg.h"

extern struct channel netproc_chan, idproc_chan, launcher_chan;

/* The daemon is stopping: nothing new is begun. */
extern bool shutting_down;

/* Calls when another role has gone, or asks. */
struct peers_hooks {
	/* broke: it broke the rules, and may have been taken over. */
	void		(*netproc_lost)(bool broke);
	void		(*idproc_lost)(void);
	void		(*launcher_lost)(void);
	chan_allow_fn	 allow;
};

/* Borrows the hooks for good. */
void	 peers_init(const struct peers_hooks *);
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
void	 peers_limit(void);
/* A copy that chan_send() may take; -1 with errno. */
int	 fd_copy(int fd);
/* Closes *fd if it is open and marks it as closed. */
void	 fd_close(int *fd);

#endif
