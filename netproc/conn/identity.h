/* SPDX-License-Identifier: ISC */
/*
 * Identity of the client, asked of idproc for every connection.  A connection
 * is served when idproc has identified the user and the spawner has sent that
 * user's sessions.
 */
#ifndef DL_NET_IDENTITY_H
#define DL_NET_IDENTITY_H

#include "conn.h"
#include "wire/msg.h"

/* Connections that are no struct conn, such as gdb's to a debug port. */
struct identity_others {
	/* Takes an answer, if the number is of one of them. */
	bool	 (*is)(uint32_t number, bool known, uint32_t uid,
		    const char *why);
	/* Asks again about those whose answer may have been lost. */
	void	 (*again)(void);
};

void	 identity_init(void);
/* Borrows it for good. */
void	 identity_others(const struct identity_others *);
/* A new channel to idproc; takes fd. */
void	 identity_peer(int fd, uint32_t generation);
/* Asks who is at the other end of sock_fd; -1 when idproc cannot be asked. */
int	 identity_ask(uint32_t number, int sock_fd);
/* Asks for a connection, which waits for the answer. */
void	 identity_start(struct conn *);
/* The connection ends: takes it off its owner, tells the spawner. */
void	 identity_forget(struct conn *);
/* A number that is no connection's any more must be forgotten there too. */
void	 identity_closed(uint32_t number);
/*
 * The connection is this user's from now on: PRINCIPAL_* flags as the spawner
 * sent them.  false when the user has connections enough; the connection must
 * be closed then.
 */
bool	 identity_set(struct conn *, uint32_t uid, uint32_t flags,
	    const char *name);
/* Asks again for all that still wait. */
void	 identity_ask_again(void);

extern const struct conn_mode	mode_ident;

int	 net_on_peer_is(struct msg *);
int	 net_on_synced(struct msg *);
int	 net_on_conn_end(struct msg *);

#endif
