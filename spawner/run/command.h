/* SPDX-License-Identifier: ISC */
/* NEW: sessions whose program is a command of the host. */
#ifndef SPAWNER_COMMAND_H
#define SPAWNER_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "spawner/session/session.h"

/* The account's shell, or one that can be used in its place. */
const char *command_shell(const struct account *);
/* The command and the arguments it has now, as its viewers see them. */
void	command_show(struct session *);
/*
 * Sets the command and its arguments, strings one after the other.  Returns -1
 * without memory; the session then keeps what it had.
 */
int	command_set(struct session *, const char *argv, size_t);
/* Requests that wait for an account: of one connection, and of all. */
void	command_drop_conn(uint32_t conn);
void	command_drop_all(void);

#endif
