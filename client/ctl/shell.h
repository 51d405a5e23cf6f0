/* SPDX-License-Identifier: ISC */
/* Sessions of commands of the target, and programs on a terminal. */
#ifndef CLIENT_CTL_SHELL_H
#define CLIENT_CTL_SHELL_H

struct client;

int	ctl_new(struct client *, int, char **);
int	ctl_shell(struct client *, int, char **);

/*
 * Starts the session, attaches to it and deletes it once it has ended; who
 * detaches leaves it there. An exit code: that of the program.
 */
int	shell_run(struct client *, const char *id);

#endif
