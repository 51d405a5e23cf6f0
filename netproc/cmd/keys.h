/* SPDX-License-Identifier: ISC */
/*
 * Keys for browsers and terminals: made by the spawner, which alone knows
 * whether one is good (auth_ask() in auth.h).  A key goes through here once.
 */
#ifndef DL_NET_KEYS_H
#define DL_NET_KEYS_H

#include <stdint.h>

#include "netproc/conn/ask.h"
#include "netproc/text/line.h"
#include "wire/msg.h"
#include "wire/proto.h"

struct rsession;

/* "dlc_" or the like and 32 bytes in base64url. */
#define KEY_TEXT	47

/* Good until key_fn returns; it is wiped then. */
struct key_answer {
	uint32_t	 err;		/* ERR_OK, or there is no key */
	const char	*msg;		/* empty = the code's own text */
	const char	*key;
	const char	*read_only;	/* of KEY_SESSION the second, else empty */
	uint64_t	 expires;	/* CLOCK_REALTIME, s; 0 = with its session */
};

/*
 * Asks for a key of that kind; fn is called once.  session is NULL where the
 * kind has none; access is a ticket's, rotate is for KEY_SESSION.
 */
void	key_ask(struct conn *, enum key_kind, const struct sid *session,
	    enum access, bool rotate, key_fn fn);
/* Ends the login by which this connection, and maybe others, came in. */
void	key_end_ask(struct conn *, ask_fn done);

void	cmd_login(struct conn *, struct rsession *, const struct words *);
void	cmd_ticket(struct conn *, struct rsession *, const struct words *);
void	cmd_keys(struct conn *, struct rsession *, const struct words *);

int	net_on_key(struct msg *);

#endif
