/* SPDX-License-Identifier: ISC */
/* Commands that bring gdb and a session together. */
#ifndef CLIENT_CTL_GDB_H
#define CLIENT_CTL_GDB_H

struct client;

int	ctl_gdb(struct client *, int, char **);
int	ctl_gdb_pipe(struct client *, int, char **);

#endif
