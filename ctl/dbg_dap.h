/* SPDX-License-Identifier: ISC */
/* The debug adapter protocol on standard input and output. */
#ifndef CTL_DBG_DAP_H
#define CTL_DBG_DAP_H

struct dbg;

int	dbg_dap(struct dbg *, int argc, char **argv);

#endif
