/* SPDX-License-Identifier: ISC */
/* From a program's pipes into its ring. */
#ifndef SPAWNER_OUTPUT_H
#define SPAWNER_OUTPUT_H

#include <sys/types.h>

#include <stdbool.h>

#include "spawner/session/session.h"

/*
 * Takes both; err_fd is -1 unless the streams are split.  -1 with errno when
 * they cannot be watched.
 */
int	output_watch(struct session *, int out_fd, int err_fd);
/* Reads once into the ring, max bytes at most: how many, 0 at the end, -1. */
ssize_t	output_read(struct stream *, size_t max);
void	output_close(struct stream *);
/* Tells netproc that there is more, if it has asked to be told. */
void	output_ring(struct session *);
/* There is more that may be read of the pipes again. */
void	output_resume(struct session *);
/* A run begins: its pipes are large, or fit if it is held. */
void	 output_begin(struct session *);
/*
 * While the session is held: makes the pipes so small that what is in them
 * when the program ends has room in the ring.
 */
void	output_fit(struct session *);
/* Whether what is left in the pipes must wait until a holder has more. */
bool	output_waits(const struct session *);
/* Closes the pipes with what is in them. */
void	output_drop(struct session *);
/* Takes what is in the pipes now; they stay open. */
void	output_take(struct session *);
/* The tree is gone: takes what is left in the pipes and closes them. */
void	output_finish(struct session *);

#endif
