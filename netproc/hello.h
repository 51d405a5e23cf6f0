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
#include <stdint.h>

struct command;
struct conn;
struct rsession;
struct words;

#define HELLO_NONCE	16

/* Part of a connection; zeroed, all commands are answered. */
struct hello {
	bool	 wanted;		/* HELLO has not been completed */
	bool	 asked;			/* the nonce has been sent */
	bool	 good;			/* a line with valid syntax has come */
	uint8_t	 nonce[HELLO_NONCE];
	unsigned int not_found;		/* answers since the last right id */
	uint32_t err;			/* of the present line, or ERR_OK */
};

/* Restricts the connection until it has said HELLO or AUTH. */
void	 hello_want(struct conn *);
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
