/* SPDX-License-Identifier: ISC */
/* The token that we log in by, while it is in memory. */
#ifndef CLIENT_CTL_SECRET_H
#define CLIENT_CTL_SECRET_H

struct options;

#define TOKEN_TEXT	48	/* "dlt_", 43 characters and a NUL */

/*
 * From now on no other process of the user can read our memory, and no core
 * file is written. Until secret_expose(): a daemon of the same host may have
 * to look at its clients, to tell them from sessions, and refuses those that
 * it cannot look at.
 */
void	secret_hide(void);
void	secret_expose(void);

/*
 * The token for a target (target_text()): of --token-file, of
 * $DEBUGLANTERN_TOKEN, or the one that login keeps. *tokenp is borrowed, NULL
 * when there is none. An exit code, after a report unless it is CTL_OK.
 */
int	secret_for(const struct options *, const char *target,
	    const char **tokenp);

/* As above, without those that login keeps. */
int	secret_given(const struct options *, const char **tokenp);

/* Keeps a token for a target, or forgets it (NULL), as store_set(). */
int	secret_keep(const char *target, const char *token);

/* Asks for a token without showing it. As secret_for(). */
int	secret_ask(const char *target, const char **tokenp);

/* Puts a token that was in the environment back for a program of ours. */
void	secret_export(void);

void	secret_wipe(void);

#endif
