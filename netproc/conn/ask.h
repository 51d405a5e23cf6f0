/* SPDX-License-Identifier: ISC */
/*
 * Requests to the spawner.  A connection has at most one at a time, and does
 * nothing else until it is answered.
 */
#ifndef DL_NET_ASK_H
#define DL_NET_ASK_H

#include "conn.h"
#include "msg.h"

extern struct channel	spawner_chan;

void	 ask_init(void);
/* Calls fn when the spawner has gone, before connections hear of it. */
void	 ask_when_lost(void (*fn)(void));
/* The replica cannot be kept: it begins anew, with the link. */
void	 ask_afresh(const char *what);
/* A new channel to the spawner; takes fd. */
void	 ask_peer(int fd, uint32_t generation);
/* The message for a request of this connection; session may be NULL. */
struct msg_out *ask_new(struct conn *, enum msg_type, const struct sid *);
/* The number of the request that was made last. */
uint64_t ask_last(void);
/*
 * Sends it and waits; how.fn is called with the answer, or with
 * ERR_TRY_AGAIN at once when there is no spawner.
 */
void	 ask_send(struct conn *, struct msg_out *, struct ask how);
/* Sends it; the answer is the session object, or the error. */
void	 ask_session(struct conn *, struct msg_out *, const struct sid *);
/* Ends the waiting: calls fn. */
void	 ask_done(struct conn *, uint32_t err, const char *);
/* The connection that asked this; NULL when it has gone. */
struct conn *ask_find(const struct msg *);

extern const struct conn_mode	mode_asked;

int	 net_on_result(struct msg *);

#endif
