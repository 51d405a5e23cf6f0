/* SPDX-License-Identifier: ISC */
/* Small files of "KEY VALUE" lines below ~/.config/debuglantern. */
#ifndef CLIENT_CTL_STORE_H
#define CLIENT_CTL_STORE_H

#include <stddef.h>

struct store {
	char	*text;		/* NULL: there is no such file */
	size_t	 size;
	char	*next;
	int	 line;		/* number of the last entry, from 1 */
};

/*
 * Reads a file, when there is one. It must be the user's own; secret: readable
 * by nobody else either. An exit code, after a report unless it is CTL_OK;
 * store_free() wipes and frees what was read.
 */
int	store_load(struct store *, const char *name, int secret);
void	store_free(struct store *);

/* The next entry, valid until store_free(); 0 at the end. */
int	store_next(struct store *, const char **key, const char **value);

/*
 * Sets the value of a key, or removes it (value is NULL), atomically. An exit
 * code as above; CTL_REFUSED without a report when there was none to remove.
 */
int	store_set(const char *name, const char *key, const char *value);

/* The path of a file, for messages; buf holds STORE_PATH bytes. */
#define STORE_PATH	4096
const char *store_path(const char *name, char *buf);

#endif
