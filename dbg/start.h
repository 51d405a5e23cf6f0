/* SPDX-License-Identifier: ISC */
/* How a debug session begins. */
#ifndef CTL_DBG_START_H
#define CTL_DBG_START_H

struct dbg;

/*
 * Of the table: argv is what follows the name.  An exit code, after a report
 * unless it is CTL_OK; what there is to see has been printed.
 */
int	dbg_start(struct dbg *, int argc, char **argv);
int	dbg_attach(struct dbg *, int argc, char **argv);

#endif
