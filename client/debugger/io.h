/* SPDX-License-Identifier: ISC */
/* The program's standard input and output. */
#ifndef CLIENT_DEBUGGER_IO_H
#define CLIENT_DEBUGGER_IO_H

struct dbg;

/* Command handlers: an exit code, after a report unless it is CTL_OK. */
int	dbg_output(struct dbg *, int argc, char **argv);
int	dbg_input(struct dbg *, int argc, char **argv);

#endif
