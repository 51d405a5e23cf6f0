/* SPDX-License-Identifier: ISC */
/*
 * Clients that only write: a program that is made to fetch an address can
 * send lines to a TCP port as its user, but cannot read the answers.  So
 * until a TCP connection has sent back a nonce that it was told, or a token,
 * it is answered what the base protocol has, by ids that are hard to guess.
 */
#ifndef DL_NET_HELLO_H
#define DL_NET_HELLO_H

#include <stdbool.h>

struct command;
struct conn;
struct rsession;
struct words;

/*
 * Answers and closes when the command, its arguments or the form of its id
 * need a HELLO that has not come.
 */
bool	 hello_refuses(struct conn *, const struct command *,
	    const struct words *);
/* A session was found by its id. */
void	 hello_found(struct conn *);
/* Before and after a line that is not empty has been run: may close. */
void	 hello_before(struct conn *);
void	 hello_after(struct conn *);

void	 cmd_hello(struct conn *, struct rsession *, const struct words *);

#endif
