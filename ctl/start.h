/* SPDX-License-Identifier: ISC */
/* What clients do before anything else. */
#ifndef CTL_START_H
#define CTL_START_H

/*
 * Opens those of fds 0 to 2 that the starter has closed: input is empty,
 * output fails.  Reports ends of children though the starter ignores SIGCHLD,
 * and ignores SIGPIPE.
 */
void	client_start(void);

#endif
