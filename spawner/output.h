/* SPDX-License-Identifier: ISC */
/* From a program's pipes into its ring. */
#ifndef SPAWNER_OUTPUT_H
#define SPAWNER_OUTPUT_H

#include "session.h"

/*
 * Takes both; err_fd is -1 unless the streams are split.  -1 with errno when
 * they cannot be watched.
 */
int	output_watch(struct session *, int out_fd, int err_fd);
/* Closes the pipes with what is in them. */
void	output_drop(struct session *);
/* The tree is gone: takes what is left in the pipes and closes them. */
void	output_finish(struct session *);

#endif
