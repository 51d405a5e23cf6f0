/* SPDX-License-Identifier: ISC */
/* The terminal of a session, made in it by its owner. */
#ifndef LAUNCHER_OWNER_TTY_H
#define LAUNCHER_OWNER_TTY_H

#include "wire/run.h"

/* Gives back the master and *slave_fd; ends the process when it cannot. */
int	tty_open(const struct run_spec *, int *slave_fd);
/* In a new session leader whose standard input is that terminal. */
void	tty_control(void);

#endif
