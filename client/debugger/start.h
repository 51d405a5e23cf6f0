/* SPDX-License-Identifier: ISC */
/* How a debug session begins. */
#ifndef CLIENT_DEBUGGER_START_H
#define CLIENT_DEBUGGER_START_H

struct dbg;

/*
 * Command handlers: argv holds the words after the name.  An exit code, after a
 * report unless it is CTL_OK; the result has been printed.
 */
int	dbg_start(struct dbg *, int argc, char **argv);
int	dbg_attach(struct dbg *, int argc, char **argv);

#endif
