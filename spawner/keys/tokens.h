/* SPDX-License-Identifier: ISC */
/*
 * Tokens: who may log in without being a user of this host's.  They are kept
 * as hashes, in memory and in one file of fixed slots.  A slot counts only
 * when every byte of it is as it was written: whatever is torn, changed or
 * half there is nobody's token.
 */
#ifndef SPAWNER_TOKENS_H
#define SPAWNER_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors.h"
#include "wire/proto.h"

/* "dlt_" and 32 random bytes in base64url, without padding. */
#define TOKEN_TEXT		47
#define TOKEN_ID		8	/* hexadecimal digits */
#define TOKEN_LABEL_MAX		64
#define TOKENS_MAX		4096
#define TOKENS_PER_USER		64
#define TOKEN_SLOT		256	/* bytes in the file */

struct token {
	char		 id[TOKEN_ID + 1];
	uint32_t	 uid;
	bool		 read_only;
	int64_t		 created;	/* CLOCK_REALTIME, seconds */
	int64_t		 expires;	/* the same, 0 = never */
	char		 user[USER_NAME_MAX];
	char		 label[TOKEN_LABEL_MAX + 1];	/* empty = none */
};

/* To be called before the confinement: libsodium looks for its randomness. */
void	 tokens_init(void);
/*
 * Reads the file; takes fd, which stays open for writing.  Slots that are
 * bad are logged and counted as free.  -1 with errno when it cannot be read.
 */
int	 tokens_open(int fd);
bool	 tokens_are_open(void);
/*
 * Looks up a token; NULL: unknown, expired or revoked.  The token returned is
 * good until the next change of a token.
 */
const struct token *tokens_check(const char *text, size_t len);
/*
 * Makes a token of t->uid; id and created are chosen here.  It is in the file
 * when ERR_OK is returned, else errno says more (ERR_INTERNAL).  text gets
 * the token itself, which is nowhere else: the caller wipes it.
 */
enum err tokens_create(struct token *t, char text[TOKEN_TEXT + 1]);
/* The token with that id, expired ones too; NULL when there is none. */
const struct token *tokens_find(const char *id);
/*
 * Ends it: it is refused from now on.  -1 with errno when the file could not
 * be changed, so that a restart of the daemon would bring it back.
 */
int	 tokens_revoke(const char *id);
/* All of them in no order, from NULL to NULL. */
const struct token *tokens_next(const struct token *);
/* 1 to 64 letters, digits, '.', '_', '-'; empty = no label. */
bool	 token_label_is_good(const char *);

#endif
