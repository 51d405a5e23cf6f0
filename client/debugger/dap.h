/* SPDX-License-Identifier: ISC */
/* The debug adapter protocol on standard input and output. */
#ifndef CLIENT_DEBUGGER_DAP_H
#define CLIENT_DEBUGGER_DAP_H

struct dbg;

/*
 * Command handler: serves an editor until the editor or the session ends.
 * Returns an exit code, after a report unless it is CTL_OK.
 */
int	dbg_dap(struct dbg *, int argc, char **argv);

#endif
