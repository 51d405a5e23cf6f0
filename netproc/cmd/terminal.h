/* SPDX-License-Identifier: ISC */
/* Commands of sessions of commands and of terminals. */
#ifndef DL_NET_TERMINAL_H
#define DL_NET_TERMINAL_H

#include <stdint.h>

#include "netproc/text/line.h"
#include "wire/msg.h"

#include "netproc/conn/ask.h"

void	cmd_new(struct conn *, struct rsession *, const struct words *);
void	cmd_mark(struct conn *, struct rsession *, const struct words *);
void	cmd_resize(struct conn *, struct rsession *, const struct words *);

/* "cols=80" or "rows=24" into its place; NULL or what is wrong. */
const char *terminal_size_option(const struct word *, uint32_t *cols,
	    uint32_t *rows);
/* NEW, with these NEW_* flags besides; fn is told, and when to start it. */
void	terminal_new(struct conn *, const struct words *, uint32_t flags,
	    ask_fn fn);
/* START, as its last run or the configuration has it. */
void	terminal_start(struct conn *, const struct sid *, ask_fn fn);
/* Types the size bytes that follow on the session's terminal. */
void	terminal_input(struct conn *, struct rsession *, uint64_t size);

int	net_on_tty_marked(struct msg *);

#endif
