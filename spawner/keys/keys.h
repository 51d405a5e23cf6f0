/* SPDX-License-Identifier: ISC */
/*
 * Keys: secrets that the daemon makes for a while, for browsers and for
 * terminals.  They live in memory alone, as hashes, and end with it; what a
 * key gives is judged when it is shown, by who made it.
 */
#ifndef SPAWNER_KEYS_H
#define SPAWNER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokens.h"
#include "wire/msg.h"
#include "wire/proto.h"

/* A prefix as "dlc_", and 32 random bytes in base64url, without padding. */
#define KEY_TEXT		47
#define KEY_ID			8	/* hexadecimal digits */

/* Limits for each user; one key more ends the oldest. */
#define KEY_COOKIES_MAX		32
#define KEY_LOGINS_MAX		8
#define KEY_TICKETS_MAX		64

#define KEY_COOKIE_S		(7 * 24 * 3600)
#define KEY_LOGIN_S		600
#define KEY_TICKET_S		30

struct viewer;

struct key {
	enum key_kind	 kind;
	char		 id[KEY_ID + 1];
	struct viewer	*maker;		/* borrowed; never freed */
	uint32_t	 uid;		/* the maker's */
	uint32_t	 flags;		/* PRINCIPAL_* of the connection */
	bool		 root;		/* which was root's, on this host */
	uint32_t	 peer;		/* the socket's user, or -1 */
	char		 token[TOKEN_ID + 1];	/* used to log in, or empty */
	char		 parent[KEY_ID + 1];	/* a ticket's: its cookie */
	struct sid	 session;	/* all zero = of no session */
	enum access	 access;	/* to it */
	uint64_t	 ends_ms;	/* loop_now_ms(), 0 = with its session */
	int64_t		 expires;	/* the same as CLOCK_REALTIME, seconds */
};

/* A key has ended otherwise than by use; it is freed after this. */
typedef void	(*keys_ended_fn)(const struct key *);
void	 keys_init(keys_ended_fn);
/*
 * Makes a key like this one; id, ends_ms and expires are chosen here, where
 * most_s, not 0, bounds its life.  text gets the key itself, which is nowhere
 * else: the caller wipes it.  NULL without memory.
 */
const struct key *keys_make(const struct key *, int64_t most_s,
	    char text[KEY_TEXT + 1]);
/* Is it of the form that keys of this kind have? */
bool	 keys_is_kind(const char *text, size_t len, enum key_kind);
/*
 * Looks up a key; NULL: unknown or at its end.  A key that is good for one use
 * is used up by this.  Returned is a copy, good until the next call.
 */
const struct key *keys_check(const char *text, size_t len);
/* The key with that id, NULL when there is none. */
const struct key *keys_find(const char *id);
/* A login of the last ten minutes. */
bool	 keys_is_new(const char *id);
/* How many there are of that session's own. */
size_t	 keys_of_session(const struct sid *);

void	 keys_end(const char *id);
void	 keys_end_token(const char *token);
void	 keys_end_session(const struct sid *);
/* A session's own two; tickets stay. */
void	 keys_end_shared(const struct sid *);
/* Ends keys that administrators made as such: of all, or of one but root's. */
void	 keys_end_admins(const struct viewer *);
void	 keys_end_all(void);

#endif
