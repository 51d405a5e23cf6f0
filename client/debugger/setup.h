/* SPDX-License-Identifier: ISC */
/* Which debug adapters this host has. */
#ifndef CLIENT_DEBUGGER_SETUP_H
#define CLIENT_DEBUGGER_SETUP_H

#include <stddef.h>

struct dbg;

/*
 * Command handler: an exit code, after a report unless it is CTL_OK;
 * DBG_ADAPTER for --check if no adapter is usable.
 */
int	dbg_setup(struct dbg *, int argc, char **argv);

/*
 * The version in what a program says of itself, "" when there is none: the
 * last number with a dot in it of the first line that has one.
 */
void	setup_version(const char *text, char *buf, size_t size);

#endif
