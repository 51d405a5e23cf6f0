/* SPDX-License-Identifier: ISC */
/* How a debug session begins. */
#ifndef CTL_DBG_START_H
#define CTL_DBG_START_H

struct dbg;

int	dbg_start(struct dbg *, int argc, char **argv);
int	dbg_attach(struct dbg *, int argc, char **argv);

#endif
