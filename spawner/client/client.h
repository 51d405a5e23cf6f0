/* SPDX-License-Identifier: ISC */
/*
 * Netproc's connections, and who is at their other ends: by idproc's word,
 * or by a token.
 */
#ifndef SPAWNER_CLIENT_H
#define SPAWNER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "spawner/keys/keys.h"
#include "spawner/keys/tokens.h"
#include "spawner/session/owner.h"
#include "wire/msg.h"
#include "wire/proto.h"

struct hold;

struct client {
	LIST_ENTRY(client) next;
	uint32_t	 number;
	struct viewer	*viewer;	/* NULL = no AUTH so far */
	uint32_t	 flags;		/* PRINCIPAL_* */
	enum door	 door;
	bool		 spoke;		/* AUTH would come too late */
	char		 address[ADDRESS_TEXT];
	uint32_t	 said_uid, said_flags;	/* by idproc, before any AUTH */
	char		 token[TOKEN_ID + 1];	/* its id, empty = none */
	char		 key[KEY_ID + 1];	/* it ends with that, likewise */
	struct viewer	*maker;		/* of a guest's key; NULL = no guest */
	bool		 root;		/* root's on this host, or by its key */
	struct loop_timer expiry;	/* of the token */
	struct hold	*hold;		/* output_flow.c's; NULL = none */
};

/* Calls for all else that belongs to connections, and ends as they do. */
struct client_hooks {
	/* By the client: nobody waits for its answers. */
	void		 (*closed)(uint32_t number);
	/* Its rights have ended before it has. */
	void		 (*ended)(struct client *);
	void		 (*freed)(struct client *);
	/* A token's, administrators' (NULL = all) or a user's rights end. */
	void		 (*token_ended)(const char *id);
	void		 (*admins_ended)(const struct viewer *);
	void		 (*owner_barred)(const struct owner *);
};

/* Borrows the hooks for good. */
void		 client_init(const struct client_hooks *);
/*
 * idproc spoke before netproc could: its word on a connection that is not
 * known yet may still be queued, and is read now.  Any session may end by what
 * else is read, so no handler does so: it is done before they are called.
 */
void		 client_learn(uint32_t number);
/*
 * NULL when there is none (any more).  A handler answers that with -1: netproc
 * made the connection up.
 */
struct client	*client_find(uint32_t number);
/* Gives the connection to this user, who sees their sessions; NULL = none. */
void		 client_become(struct client *, struct viewer *,
		    uint32_t flags);
/*
 * Connections that came by that token are nobody's from now on, and netproc
 * is told to close them.
 */
void		 client_end_token(const char *id);
/* The same by that key, and all of a viewer. */
void		 client_end_key(const char *id);
void		 client_end_viewer(const struct viewer *);
/* Ends guests who may do more than the maker of their key still may. */
void		 client_access_changed(const struct session *);
/*
 * The settings are new: where they name other administrators than before,
 * connections of administrators end, and come back as what they are now.
 */
void		 client_settings(void);
/*
 * The owner's account is no administrator's: ends its connections as
 * administrator likewise.
 */
void		 client_no_admin(struct owner *);
/* The user is not let in any more: ends their connections and their guests'. */
void		 client_bar(const struct owner *);
/* netproc has gone: no connection and no replica is left. */
void		 client_forget_all(void);

/* "local", "tcp", "tls", "web" or "web-tls". */
const char	*door_text(enum door);

#endif
