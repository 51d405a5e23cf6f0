/* SPDX-License-Identifier: ISC */
/*
 * The sink of roles and of the parent: each has a link of its own to the logger,
 * by which the logger knows whose a line is.  Nothing is read from it.
 */
#ifndef DL_LOGLINE_H
#define DL_LOGLINE_H

#include <stddef.h>

#include "base/log.h"
#include "roles.h"

/* Takes fd.  -1: lines are lost from now on. */
int	 logline_open(enum role self, int fd);
/* For log_init(). */
void	 logline_send(enum log_level, const char *line);
/* Bytes that wait for the logger to read. */
size_t	 logline_backlog(void);

#endif
