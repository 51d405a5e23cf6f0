/* SPDX-License-Identifier: ISC */
/* Answers to netproc, and who waits for one. */
#ifndef SPAWNER_ANSWER_H
#define SPAWNER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"
#include "spawner/keys/keys.h"
#include "spawner/keys/tokens.h"
#include "spawner/session/owner.h"
#include "wire/msg.h"

/* Enough to answer later; an answer for a netproc of the past is dropped. */
struct asker {
	struct owner	*owner;		/* NULL = nobody waits */
	struct viewer	*viewer;
	uint32_t	 flags;		/* PRINCIPAL_* of the connection */
	enum door	 door;
	char		 address[ADDRESS_TEXT];
	char		 token[TOKEN_ID + 1];	/* empty = none */
	char		 key[KEY_ID + 1];	/* the same */
	const char	*command;	/* static, for the activity list */
	uint64_t	 request;
	uint32_t	 conn;
	uint32_t	 generation;
};

/* false when the connection is unknown: the handler returns -1 then. */
bool	 asker_init(struct asker *, const struct msg *, const char *command);
/* In user mode the only user is. */
bool	 asker_is_admin(const struct asker *);
/*
 * Is the asker still the same as at the time of the request?  The login, or the
 * administrator's rights, may have ended while something was looked up.
 */
bool	 asker_stands(const struct asker *);
bool	 asker_waits(const struct asker *);

/*
 * Sends RESULT and notes the event; message NULL = the code's own text.
 * The asker is not waiting any more after it.
 */
void	 answer(struct asker *, const struct sid *, enum err,
	    const char *message, ...) __attribute__((format(printf, 4, 5)));
/* The message that answers instead of RESULT: sends it, takes fd. */
int	 answer_with(struct asker *, struct msg_out *, int fd);
/* The code for a step of the launcher's that failed: the usual one, or BUSY. */
enum err step_code(uint32_t step, enum err usual);
/* msg_new() with the asker's connection and request. */
struct msg_out *answer_new(const struct asker *, enum msg_type,
	    const struct sid *);

#endif
